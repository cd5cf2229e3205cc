// Numbers as NumPy arrays: views of states, copies of results.
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

void assign(Doubles target, const py::object& values, const char* name) {
    const auto given = py::array_t<double, py::array::forcecast>::ensure(values);
    if (!given) {
        PyErr_Clear();
        throw py::type_error(std::string(name) + " takes numbers, not " +
                             py::str(py::type::of(values).attr("__name__")).cast<std::string>());
    }
    if (!py::tuple(given.attr("shape")).equal(py::tuple(target.attr("shape"))))
        throw py::value_error(std::string(name) + " has the shape " +
                              py::str(target.attr("shape")).cast<std::string>() + ", but was given " +
                              py::str(given.attr("shape")).cast<std::string>());
    target[py::ellipsis()] = given;
}

}  // namespace tenon::python
