// Who may write a run file, and the error of those who cannot.
#pragma once

#include <string>

namespace tenon::run {

[[noreturn]] void cannot_write(const std::string& file, const std::string& why);

// Held by whoever writes a run file: a locked file RUN-lock beside it. The kernel lets go of it when the process ends,
// however it ends.
class WriterLock {
  public:
    explicit WriterLock(const std::string& run_file);
    ~WriterLock();
    WriterLock(const WriterLock&) = delete;
    WriterLock& operator=(const WriterLock&) = delete;

  private:
    std::string file_;
    int descriptor_ = -1;
};

}  // namespace tenon::run
