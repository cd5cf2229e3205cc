#include "serve/html_page.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include "serve/frame_chunk.hpp"
#include "serve/model_json.hpp"
#include "serve/series_json.hpp"
#include "tenon/error.hpp"

namespace tenon::serve {
namespace {

using nlohmann::json;

// How much of the runs goes into the page.
struct Selection {
    long stride = 1;
    bool contacts = true;
};

std::vector<long> selected(long count, long stride) {
    std::vector<long> frames;
    for (long i = 0; i < count; i += stride) frames.push_back(i);
    if (!frames.empty() && frames.back() != count - 1) frames.push_back(count - 1);
    return frames;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    std::size_t at = 0;
    while ((at = text.find(what, at)) != std::string::npos) {
        text.replace(at, what.size(), by);
        at += by.size();
    }
    return text;
}

// "</script" inside a script would end it; in JavaScript's strings "<\/script" is the same text.
std::string safe_in_script(const std::string& text) {
    return replaced(text, "</script", "<\\/script");
}

// The page with its script and style inside, up to the place where the data goes.
std::string inlined(const PageFiles& page) {
    std::string html = page.at("index.html").bytes;
    const auto replace_tag = [&](const std::string& mark, const std::string& by) {
        const std::size_t name = html.find(mark);
        const std::size_t open = name == std::string::npos ? name : html.rfind('<', name);
        const std::size_t close = name == std::string::npos ? name : html.find('>', name);
        if (open == std::string::npos || close == std::string::npos)
            throw InputError("index.html", mark, "the built page is not as expected",
                             "'make view' builds it anew");
        std::size_t end = close + 1;
        if (html.compare(end, 9, "</script>") == 0) end += 9;
        html.replace(open, end - open, by);
    };
    replace_tag("viewer.css", "<style>" + page.at("viewer.css").bytes + "</style>");
    replace_tag("favicon.svg", "<link rel=\"icon\" href=\"data:image/svg+xml;base64," +
                                   base64_text(page.at("favicon.svg").bytes) + "\">");
    replace_tag("viewer.js", "");  // it follows the data, at the end of the body
    return html;
}

std::string data_element(const std::string& id, const std::string& bytes) {
    return "<script type=\"text/plain\" id=\"" + id + "\">" + base64_text(deflated(bytes)) + "</script>\n";
}

std::string run_elements(const OpenRun& run, std::size_t index, const Selection& selection,
                         std::vector<long>& frames) {
    frames = selected(run.reader.frame_count(), selection.stride);
    const auto id = [&](const std::string& what) { return fmt::format("tenon-{}-{}", index, what); };
    json model = json::parse(run.model_json);
    std::string out;
    const std::size_t piece = static_cast<std::size_t>(run.chunk_frames());
    for (std::size_t first = 0; first < frames.size(); first += piece) {
        const std::vector<long> part(
            frames.begin() + static_cast<long>(first),
            frames.begin() + static_cast<long>(std::min(first + piece, frames.size())));
        out += data_element(id(fmt::format("frames-{}", first / piece)), pack_frames(run, part));
        if (selection.contacts)
            out += data_element(id(fmt::format("contacts-{}", first / piece)), pack_contacts(run, part));
        if (!run.surfaces.empty())
            for (const char* field : {"strain", "strain_rate", "component"})
                out += data_element(id(fmt::format("{}-{}", field, first / piece)),
                                    pack_field(run, part, field));
    }
    const std::vector<double> times = run.times(0, 1L << 40);
    std::vector<double> kept;
    for (const long frame : frames) kept.push_back(times[static_cast<std::size_t>(frame)]);
    model["embedded"] = {
        {"frames", kept.size()}, {"recorded", times.size()}, {"contacts", selection.contacts}};
    out +=
        data_element(id("times"), std::string(reinterpret_cast<const char*>(kept.data()), 8 * kept.size()));
    out += data_element(id("geometry"), run.geometry.bytes);
    json series = json::array();
    for (const json& name : model["series"]) {
        try {
            for (json& one : json::parse(describe_series(run, {name.get<std::string>()})))
                series.push_back(std::move(one));
        } catch (const InputError&) {  // a number that only some steps report
        }
    }
    out += data_element(id("series"), dump(series));
    out += data_element(id("model"), dump(model));
    return out;
}

std::string assemble(const PageFiles& page, const std::string& head, const std::string& data) {
    const std::string script =
        "<script type=\"module\">" + safe_in_script(page.at("viewer.js").bytes) + "</script>\n";
    const std::size_t end = head.rfind("</body>");
    if (end == std::string::npos)
        throw InputError("index.html", "", "has no end", "'make view' builds it anew");
    return head.substr(0, end) + data + script + head.substr(end);
}

}  // namespace

std::string deflated(const std::string& bytes) {
    uLongf size = compressBound(bytes.size());
    std::string out(size, '\0');
    if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                  bytes.size(), 6) != Z_OK)
        throw std::runtime_error("compression failed");
    out.resize(size);
    return out;
}

std::string base64_text(const std::string& bytes) {
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
        unsigned block = 0;
        for (std::size_t k = 0; k < 3; ++k)
            block = (block << 8) | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k) text += k <= left ? digits[(block >> (18 - 6 * k)) & 63] : '=';
    }
    return text;
}

HtmlPage html_page(const PageFiles& page, const std::vector<std::unique_ptr<OpenRun>>& runs,
                   const HtmlOptions& options) {
    const std::string head = inlined(page);
    HtmlPage result;
    long longest = 0;
    for (const auto& run : runs) {
        result.recorded_frames += run->reader.frame_count();
        longest = std::max(longest, run->reader.frame_count());
    }
    Selection selection;
    // a first guess from plain sizes keeps huge runs from being packed whole; deflation rarely gains more than this
    double plain = 0;
    for (const auto& run : runs)
        plain += static_cast<double>(run->bytes_per_frame()) * static_cast<double>(run->reader.frame_count());
    selection.stride = std::max(1L, std::lround(plain / 20 / static_cast<double>(options.max_bytes)));
    for (;;) {
        std::string data;
        result.frames = 0;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            std::vector<long> frames;
            data += run_elements(*runs[i], i, selection, frames);
            result.frames += static_cast<long>(frames.size());
        }
        result.text = assemble(page, head, data);
        if (result.text.size() <= options.max_bytes) break;
        const double over = static_cast<double>(result.text.size()) / static_cast<double>(options.max_bytes);
        const bool ended = selection.stride >= longest - 1;
        if (ended && !selection.contacts)
            throw InputError("", "--max-size",
                             fmt::format("the page takes {:.1f} MB with two frames",
                                         static_cast<double>(result.text.size()) / 1e6),
                             "allow more");
        if (ended || (selection.contacts && selection.stride >= 8)) {
            selection.contacts = false;  // before motion becomes jerky
            if (ended) continue;
        }
        selection.stride = std::min(
            std::max(longest - 1, 1L),
            std::max(selection.stride + 1, std::lround(over * static_cast<double>(selection.stride))));
    }
    if (result.frames < result.recorded_frames)
        result.notes.push_back(fmt::format("every {} frame is in it, to keep {:.3g} MB (--max-size)",
                                           selection.stride == 2   ? "second"
                                           : selection.stride == 3 ? "third"
                                                                   : fmt::format("{}th", selection.stride),
                                           static_cast<double>(options.max_bytes) / 1e6));
    if (!selection.contacts) result.notes.push_back("contacts and joint forces were left out");
    return result;
}

}  // namespace tenon::serve
