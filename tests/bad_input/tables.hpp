// The tables of bad input of this program, counted: each file enters its own.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace tenon::bad_input {

using Sizes = std::map<std::string, std::size_t (*)()>;  // number of cases by the table's name

inline Sizes& tables() {
    static Sizes all;
    return all;
}

// At namespace scope of the file that holds the table.
struct Table {
    Table(const char* name, std::size_t (*cases)()) { tables()[name] = cases; }
};

}  // namespace tenon::bad_input
