#include "methods/affine/system_dump.hpp"

#include <fstream>

#include <fmt/format.h>

#include "tenon/error.hpp"

namespace tenon::affine {
namespace {

std::ofstream open(const std::string& name) {
    std::ofstream out(name);
    if (!out)
        throw InputError(name, "method.dump", "cannot be written",
                         "name a place in an existing, writable folder");
    return out;
}

// Lower triangle only: of diagonal blocks too.
void write_block(std::ofstream& out, const double* block, int dof, int i, int j) {
    for (int column = 0; column < dof; ++column)
        for (int row = i == j ? column : 0; row < dof; ++row)
            out << fmt::format("{} {} {:.17g}\n", i * dof + row + 1, j * dof + column + 1,
                               block[column * dof + row]);
}

}  // namespace

void dump_system(const std::string& name, const solve::BlockMatrix& matrix,
                 const std::vector<double>& right) {
    const int dof = matrix.dof, square = dof * dof;
    const solve::BlockPattern& pattern = matrix.pattern;
    std::ofstream out = open(name + ".mtx");
    const std::size_t entries = static_cast<std::size_t>(pattern.nodes) * dof * (dof + 1) / 2 +
                                pattern.columns.size() * static_cast<std::size_t>(square);
    out << "%%MatrixMarket matrix coordinate real symmetric\n"
        << fmt::format("{} {} {}\n", matrix.size(), matrix.size(), entries);
    for (int i = 0; i < pattern.nodes; ++i) {
        for (int e = pattern.start[i]; e < pattern.start[i + 1]; ++e)
            write_block(out, matrix.lower.data() + static_cast<std::size_t>(e) * square, dof, i,
                        pattern.columns[e]);
        write_block(out, matrix.diagonal.data() + static_cast<std::size_t>(i) * square, dof, i, i);
    }
    std::ofstream side = open(name + "-rhs.mtx");
    side << "%%MatrixMarket matrix array real general\n" << right.size() << " 1\n";
    for (const double value : right) side << fmt::format("{:.17g}\n", value);
    if (!out.flush() || !side.flush())
        throw InputError(name, "method.dump", "cannot be written", "is the disk full?");
}

}  // namespace tenon::affine
