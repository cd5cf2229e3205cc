// Numbers as NumPy arrays: views of states, copies of results.
#include <fmt/format.h>

#include "bindings.hpp"

namespace tenon::python {

Doubles view(const std::shared_ptr<void>& owner, double* data, std::vector<py::ssize_t> shape,
             std::vector<py::ssize_t> strides) {
    for (py::ssize_t& stride : strides) stride *= static_cast<py::ssize_t>(sizeof(double));
    const py::capsule keeper(new std::shared_ptr<void>(owner),
                             [](void* pointer) { delete static_cast<std::shared_ptr<void>*>(pointer); });
    return Doubles(std::move(shape), std::move(strides), data, keeper);
}

namespace {

// Strides of the leading axes, over items of `size` doubles.
std::vector<py::ssize_t> leading(const std::vector<py::ssize_t>& counts, py::ssize_t size) {
    std::vector<py::ssize_t> strides(counts.size());
    for (std::size_t k = counts.size(); k-- > 0; size *= counts[k]) strides[k] = size;
    return strides;
}

}  // namespace

Doubles pose_view(const std::shared_ptr<void>& owner, double* data, std::vector<py::ssize_t> counts) {
    std::vector<py::ssize_t> strides = leading(counts, 12);
    strides.insert(strides.end(), {1, 3});
    counts.insert(counts.end(), {3, 4});
    return view(owner, data, std::move(counts), std::move(strides));
}

Doubles column_view(const std::shared_ptr<void>& owner, double* data, std::vector<py::ssize_t> counts) {
    std::vector<py::ssize_t> strides = leading(counts, 12);
    strides.push_back(1);
    counts.push_back(3);
    return view(owner, data + 9, std::move(counts), std::move(strides));
}

Doubles flat_view(const std::shared_ptr<void>& owner, double* data, std::vector<py::ssize_t> shape) {
    std::vector<py::ssize_t> strides = leading(shape, 1);
    return view(owner, data, std::move(shape), std::move(strides));
}

Doubles to_array(const Mat34& value) {
    Doubles out({3, 4});
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c) out.mutable_at(r, c) = value(r, c);
    return out;
}

Doubles to_array(const VecX& value) {
    return Doubles(value.size(), value.data());
}

Doubles to_array(const MatX& value) {
    Doubles out({value.rows(), value.cols()});
    for (Eigen::Index r = 0; r < value.rows(); ++r)
        for (Eigen::Index c = 0; c < value.cols(); ++c) out.mutable_at(r, c) = value(r, c);
    return out;
}

Doubles to_array(const Vec3& value) {
    return Doubles(3, value.data());
}

Doubles to_array(const std::vector<double>& values) {
    return Doubles(static_cast<py::ssize_t>(values.size()), values.data());
}

py::dict contact_arrays(const std::vector<Contact>& contacts) {
    const auto count = static_cast<py::ssize_t>(contacts.size());
    py::array_t<int> bodies({count, py::ssize_t{2}});
    Doubles point({count, py::ssize_t{3}}), normal({count, py::ssize_t{3}}), force({count, py::ssize_t{3}}),
        distance(count);
    for (py::ssize_t i = 0; i < count; ++i) {
        const Contact& contact = contacts[static_cast<std::size_t>(i)];
        bodies.mutable_at(i, 0) = contact.a;
        bodies.mutable_at(i, 1) = contact.b;
        for (int k = 0; k < 3; ++k) {
            point.mutable_at(i, k) = contact.point[k];
            normal.mutable_at(i, k) = contact.normal[k];
            force.mutable_at(i, k) = contact.force[k];
        }
        distance.mutable_at(i) = contact.distance;
    }
    py::dict out;
    out["bodies"] = bodies;
    out["point"] = point;
    out["normal"] = normal;
    out["force"] = force;
    out["distance"] = distance;
    return out;
}

Doubles checked_array(const py::object& values, const std::vector<py::ssize_t>& shape, const char* name) {
    py::array given = py::array::ensure(values);
    const char kind = given ? given.dtype().kind() : 'O';
    if (kind != 'f' && kind != 'i' && kind != 'u' && kind != 'b') {
        PyErr_Clear();
        throw py::type_error(std::string(name) + " takes numbers, not " +
                             py::str(py::type::of(values).attr("__name__")).cast<std::string>());
    }
    const std::vector<py::ssize_t> found(given.shape(), given.shape() + given.ndim());
    if (found != shape)
        throw py::value_error(fmt::format("{} has the shape ({}), but was given ({})", name,
                                          fmt::join(shape, ", "), fmt::join(found, ", ")));
    return py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(given);
}

Vec3 to_vec3(const py::object& values, const char* name) {
    const Doubles given = checked_array(values, {3}, name);
    return Vec3(given.at(0), given.at(1), given.at(2));
}

VecX to_vector(const py::object& values, py::ssize_t size, const char* name) {
    const Doubles given = checked_array(values, {size}, name);
    VecX out(size);
    for (py::ssize_t i = 0; i < size; ++i) out[i] = given.at(i);
    return out;
}

void assign(Doubles target, const py::object& values, const char* name) {
    const std::vector<py::ssize_t> shape(target.shape(), target.shape() + target.ndim());
    target[py::ellipsis()] = checked_array(values, shape, name);
}

}  // namespace tenon::python
