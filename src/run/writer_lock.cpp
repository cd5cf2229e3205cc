#include "run/writer_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tenon/error.hpp"

namespace tenon::run {
namespace {

// False when the last holder removed the file between our opening and our locking it: that lock would keep nobody out.
bool still_there(int descriptor, const std::string& file) {
    struct stat ours {
    }, named{};
    return ::fstat(descriptor, &ours) == 0 && ::stat(file.c_str(), &named) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

}  // namespace

void cannot_write(const std::string& file, const std::string& why) {
    throw InputError(file, "", "cannot write the run file: " + why,
                     "check that its folder is writable and has room");
}

WriterLock::WriterLock(const std::string& run_file) : file_(run_file + "-lock") {
    while (true) {
        descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (descriptor_ < 0) cannot_write(run_file, std::strerror(errno));
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
            ::close(descriptor_);
            throw InputError(run_file, "", "is being written by another run",
                             "wait for it, or choose another output");
        }
        if (still_there(descriptor_, file_)) return;
        ::close(descriptor_);
    }
}

WriterLock::~WriterLock() {
    std::remove(file_.c_str());
    ::close(descriptor_);
}

}  // namespace tenon::run
