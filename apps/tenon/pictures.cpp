#include "apps/tenon/pictures.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "render/between.hpp"
#include "render/sheet.hpp"
#include "tenon/error.hpp"
#include "tenon/state.hpp"

namespace tenon::app {

namespace {

render::SceneHints hints_of(const Scene& scene) {
    render::SceneHints hints;
    hints.up = scene.up;
    hints.camera = scene.camera;
    for (const ElasticSpec& body : scene.elastic)
        for (const ElasticSpec::Region& region : body.regions) {
            render::MaterialRegions& regions = hints.regions[body.name];
            regions.pose = {body.position, body.rotation.normalized()};
            regions.boxes.push_back({region.lo, region.hi, scene.materials[region.material].name});
        }
    return hints;
}

}  // namespace

Subject::Subject(const Scene& scene) {
    const tenon::Model model = compile(scene);
    const State state = initial_state(model);
    first_ = run::snapshot(state, Outputs(model));
    model_ = render::model_of(run::describe(model), hints_of(scene));
}

Subject::Subject(const std::string& run_file) : reader_(std::make_unique<run::RunReader>(run_file)) {
    if (reader_->frame_count() == 0)
        throw InputError(run_file, "", "holds no frame yet", "wait until the run has recorded something");
    model_ = render::model_of(*reader_);
    for (const run::FrameEntry& entry : reader_->frame_list()) times_.push_back(entry.time);
}

double Subject::start() const {
    return times_.empty() ? 0.0 : times_.front();
}

double Subject::end() const {
    return times_.empty() ? 0.0 : times_.back();
}

double Subject::portrait() const {
    const auto given = model_.camera.find("portrait");
    return given == model_.camera.end() || given->second.empty()
               ? end()
               : std::clamp(given->second[0], start(), end());
}

run::Frame Subject::at(double time) const {
    if (times_.size() < 2 || time <= start()) return frame(0);
    if (time >= end()) return frame(static_cast<long>(times_.size()) - 1);
    const long next = std::upper_bound(times_.begin(), times_.end(), time) - times_.begin();
    const auto kept = [&](long index) -> const run::Frame& {
        auto& slot = kept_[index % 2];  // neighbours never share one
        if (slot.first != index) slot = {index, frame(index)};
        return slot.second;
    };
    const std::size_t i = static_cast<std::size_t>(next);
    const double part = (time - times_[i - 1]) / (times_[i] - times_[i - 1]);
    return render::between_frames(kept(next - 1), kept(next), part);
}

long Subject::frame_count() const {
    return reader_ ? reader_->frame_count() : 1;
}

run::Frame Subject::frame(long index) const {
    return reader_ ? reader_->frame(index) : first_;
}

render::Stage Subject::stage(const render::RenderOptions& options, const render::CameraWish& wish) const {
    // enough frames to know the motion, few enough to hold in memory
    const long bodies = static_cast<long>(std::max<std::size_t>(1, model_.bodies.size()));
    const long count = std::clamp(400000L / bodies, 2L, 40L);
    std::vector<run::Frame> frames;
    for (long index : render::spread_frames(frame_count(), count)) frames.push_back(frame(index));
    return render::make_stage(model_, frames, options, wish);
}

render::Stage Subject::stage_at(double time, const render::RenderOptions& options,
                                const render::CameraWish& wish) const {
    const double window = 0.05 * (end() - start());
    std::vector<run::Frame> frames;
    for (const double shift : {-1.0, -0.5, 0.0, 0.5, 1.0}) frames.push_back(at(time + shift * window));
    return render::make_stage(model_, frames, options, wish);
}

std::string time_caption(double seconds) {
    return fmt::format("t = {:.3g} s", seconds);
}

render::Image run_sheet(const Subject& subject, int columns, int rows, const render::RenderOptions& options,
                        const render::Stage& stage, const std::function<void(long, long)>& progress) {
    std::vector<render::Image> pictures;
    std::vector<std::string> captions;
    const std::vector<long> frames =
        render::spread_frames(subject.frame_count(), static_cast<long>(columns) * rows);
    for (const long index : frames) {
        if (progress) progress(static_cast<long>(pictures.size()), static_cast<long>(frames.size()));
        const run::Frame frame = subject.frame(index);
        pictures.push_back(render::render_frame(subject.model(), frame, stage, options));
        captions.push_back(time_caption(frame.time));
    }
    return render::contact_sheet(pictures, captions,
                                 std::min<int>(columns, static_cast<int>(pictures.size())));
}

}  // namespace tenon::app
