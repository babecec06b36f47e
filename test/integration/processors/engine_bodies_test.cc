// Tests that no byte of a body is lost, doubled or out of place on its way through scripts and libraries: above and
// below the bounds, compressed or not, with trailers or without, over both versions of HTTP, in both directions.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "test/content/encoders.h"
#include "test/integration/processors/random_pipeline.h"
#include "test/integration/support/faults/whole_peers.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

constexpr std::size_t kWholeBound = std::size_t{64} * 1024;  // limits.processorBuffer of these tests

/// One use, which sees bodies or puts them into upper case.
struct BodyUse {
  std::string engine;
  std::string form;
  std::string act;  // "see" or "upper"
  bool ofRequest = true;
  bool isOpen = false;

  bool getsText() const { return engine == "lua" || form.ends_with("-text"); }
  bool needsWhole() const { return !form.starts_with("chunks"); }
  std::string path() const {
    return "/" + engine + "/" + form + "/" + act + (ofRequest ? "/request" : "/response") +
           (isOpen ? "/open" : "/closed");
  }
};

struct BodyCell {
  BodyUse use;
  std::size_t size = 0;
  bool isCoded = false;
  bool hasTrailers = false;
  bool isHttp2 = false;

  std::string name() const {
    return use.path() + ", " + std::to_string(size) + " bytes" + (isCoded ? ", gzip" : "") +
           (hasTrailers ? ", trailers" : "") + (isHttp2 ? ", HTTP/2" : ", HTTP/1.1");
  }
};

/// Returns letters that gzip cannot shorten by much.
std::string lettersOf(std::size_t size) {
  std::mt19937 random(static_cast<std::uint32_t>(size));
  std::string text(size, ' ');
  for (char& each : text) each = static_cast<char>('a' + random() % 26);
  return text;
}

std::string gunzipped(const std::string& bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return "no zlib";
  std::string text(std::size_t{8} * 1024 * 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int result = inflate(&stream, Z_FINISH);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return result == Z_STREAM_END && stream.avail_in == 0 ? text : "not gzip";
}

std::vector<BodyUse> bodyUses() {
  std::vector<BodyUse> uses;
  const std::vector<std::pair<std::string, std::vector<std::string>>> forms = {
      {"lua", {"whole", "chunks"}},
      {"library", {"whole", "whole-text", "chunks", "chunks-text", "inspect", "inspect-text"}}};
  for (const auto& [engine, ofEngine] : forms) {
    for (const std::string& form : ofEngine) {
      for (const std::string act : {"see", "upper"}) {
        if (act == "upper" && form.starts_with("inspect")) continue;
        for (const bool ofRequest : {false, true}) {
          for (const bool isOpen : {false, true}) uses.push_back({engine, form, act, ofRequest, isOpen});
        }
      }
    }
  }
  return uses;
}

class EngineBodies : public testing::Test {
 protected:
  void SetUp() override {
    GatewaySpec spec;
    spec.options = {"--library-dir", SLUICE_PROGRAMS "/libraries"};
    spec.settings = "processorCatalogs: [{namespace: test, name: types}]\n" +
                    limits("processorBuffer: " + std::to_string(kWholeBound) + ", replayBuffer: 16Ki");
    spec.backends = {{.port = origin_.port()}};
    std::vector<std::pair<std::string, std::string>> entries = {
        {"library.yaml",
         entryOf("acme.test/Library:v1", "library", "request-body, response-body", "library: {file: edits.so}\n")}};
    for (const std::string form : {"whole", "chunks"}) {
      entries.emplace_back(form + ".yaml", entryOf("acme.test/" + form + ":v1", "lua", "request-body, response-body",
                                                   "lua:\n" + blockOf("script", editingScript(form), "  ")));
    }
    std::string rules;
    std::size_t count = 0;
    for (const BodyUse& use : bodyUses()) {
      rules += ruleOf(use);
      if (++count % 16 == 0) addRoute(spec, std::exchange(rules, ""), count);
    }
    if (!rules.empty()) addRoute(spec, rules, count);
    spec.routes += configMapOf("types", entries) + configMapOf("schema", {{"schema.json", R"({"type": "object"})"}});
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  static void addRoute(GatewaySpec& spec, const std::string& rules, std::size_t number) {
    spec.routes += (spec.routes.empty() ? "" : "---\n") + routeOfRules(rules, "r" + std::to_string(number));
  }
  static std::string ruleOf(const BodyUse& use) {
    const std::string type = use.engine == "lua" ? use.form : "Library";
    return "    - matches: [{path: {type: Exact, value: " + use.path() + "}}]\n      filters: [" +
           inlined("{name: u, type: 'acme.test/" + type + ":v1', phase: " +
                   (use.ofRequest ? "request-body" : "response-body") + (use.isOpen ? ", failOpen: true" : "") +
                   ", config: {act: " + use.act + ", name: x-n, value: v, form: " + use.form + "}}") +
           "]\n" + backendRefs();
  }

  void runCell(const BodyCell& cell) {
    SCOPED_TRACE(cell.name());
    const std::string text = lettersOf(cell.size);
    const std::string bytes = cell.isCoded ? gzipped(text) : text;
    const H2Lines fields = cell.isCoded ? H2Lines{{"content-encoding", "gzip"}} : H2Lines{};
    const H2Lines trailers = cell.hasTrailers ? H2Lines{{"x-behind", "the end"}} : H2Lines{};
    const PeerFraming framing = cell.hasTrailers || cell.size % 2 == 1 ? PeerFraming::kChunked : PeerFraming::kLength;
    PeerRequest request;
    request.number = ++number_;
    request.path = cell.use.path();
    request.fields = {{"te", "trailers"}};
    request.answerSize = std::max(bytes.size(), text.size());
    if (cell.use.ofRequest) {
      request.framing = framing;
      request.body = bytes;
      request.fields.insert(request.fields.end(), fields.begin(), fields.end());
      request.trailers = trailers;
      origin_.answer({{}, "done", PeerFraming::kLength, {}});
    } else {
      origin_.answer({fields, bytes, framing, trailers});
    }
    auto& client = clients_[cell.isHttp2 ? 1 : 0];
    if (client == nullptr) client = std::make_unique<WholeClient>(gateway_->port(), cell.isHttp2);
    const PeerMessage answer = client->ask(request);
    check(cell, text, bytes, request, answer);
  }
  void check(const BodyCell& cell, const std::string& text, const std::string& bytes, const PeerRequest& request,
             const PeerMessage& answer) {
    const bool isOver =
        cell.use.needsWhole() && std::max(bytes.size(), cell.use.getsText() ? text.size() : 0) > kWholeBound;
    EXPECT_TRUE(answer.isWhole);
    if (isOver && !cell.use.isOpen) {
      EXPECT_EQ(answer.status, cell.use.ofRequest ? 413 : 502);
      return;
    }
    ASSERT_EQ(answer.status, 200) << answer.body.substr(0, 300);
    const auto heard = origin_.heard(request.number);
    ASSERT_TRUE(heard);
    EXPECT_TRUE(heard->isWhole);
    const PeerMessage& got = cell.use.ofRequest ? *heard : answer;
    const bool isCodedStill = got.fields.contains("content-encoding");
    std::string expected = text;
    const bool changes = cell.use.act == "upper" && !isOver;
    if (changes) {
      for (char& each : expected) each = static_cast<char>(std::toupper(each));
    }
    EXPECT_TRUE((isCodedStill ? gunzipped(got.body) : got.body) == expected)
        << got.body.size() << " bytes came" << (isCodedStill ? " in gzip" : "");
    const bool staysCoded = cell.isCoded && (isOver || !cell.use.getsText());
    if (staysCoded) {
      EXPECT_TRUE(got.body == bytes) << "byte for byte as it was sent";
    }
    EXPECT_EQ(got.trailers.contains("x-behind"), cell.hasTrailers) << "its trailers";
    if (cell.use.ofRequest) {
      EXPECT_EQ(answer.body, "done");
    }
  }

  WholeOrigin origin_;
  std::unique_ptr<GatewayProcess> gateway_;
  std::unique_ptr<WholeClient> clients_[2];
  int number_ = 0;
};

TEST_F(EngineBodies, ArriveToTheLastByte) {
  std::size_t turn = 0;
  for (const BodyUse& use : bodyUses()) {
    for (const std::size_t size :
         {std::size_t{1}, kWholeBound - 1, kWholeBound, kWholeBound + 1, std::size_t{700'000}}) {
      for (const bool isCoded : {false, true}) {
        // A library that changed compressed bytes would break their coding.
        if (isCoded && use.act == "upper" && !use.getsText()) continue;
        // The compressed body is shorter than its text, so that only one of them is at the bound.
        const bool hasTrailers = turn % 2 == 0;
        const bool isHttp2 = turn / 2 % 2 == 0;
        ++turn;
        runCell({use, size, isCoded, hasTrailers, isHttp2});
        if (HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace sluice::test
