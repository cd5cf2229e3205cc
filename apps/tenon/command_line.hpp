// Reads the command line and calls the verb.
#pragma once

namespace tenon::app {

int run_command_line(int argc, char** argv);

}  // namespace tenon::app
