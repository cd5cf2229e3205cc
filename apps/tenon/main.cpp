// The program `tenon`: reads the command line, does what it says, turns errors into exit codes.
#include <exception>
#include <iostream>

#include "apps/tenon/command_line.hpp"
#include "apps/tenon/common.hpp"
#include "tenon/error.hpp"

int main(int argc, char** argv) {
    try {
        return tenon::app::run_command_line(argc, argv);
    } catch (const tenon::InputError& error) {
        std::cerr << "error: " << tenon::app::shown(error.what()) << "\n";
        return 2;
    } catch (const tenon::StepFailure& error) {
        std::cerr << "error: " << tenon::app::shown(error.what()) << "\n";
        return 1;
    } catch (const std::bad_alloc&) {
        std::cerr << "error: not enough memory\n";
        return 1;
    } catch (const std::exception& error) {
        std::cerr << "error: " << tenon::app::shown(error.what()) << "\n";
        return 1;
    }
}
