// `tenon export`: a run for other programs.
#include <iostream>

#include <fmt/format.h>

#include "apps/tenon/common.hpp"
#include "export/export.hpp"

namespace tenon::app {

int export_verb(const ExportRequest& request) {
    const run::RunReader reader(request.run);
    exporting::ExportOptions options;
    options.output = request.output.empty() ? stem(request.run) : request.output;
    options.first = request.first;
    options.last = request.last;
    options.stride = request.every;
    const exporting::ExportReport report = exporting::export_run(reader, request.format, options);
    if (!request.quiet)
        std::cout << fmt::format("{}: {} frames, {} file{}, {:.3g} MB\n",
                                 report.files.empty() ? "" : report.files.front(), report.frames,
                                 report.files.size(), report.files.size() == 1 ? "" : "s",
                                 static_cast<double>(report.bytes) / 1e6);
    return 0;
}

}  // namespace tenon::app
