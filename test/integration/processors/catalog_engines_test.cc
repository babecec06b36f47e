// Tests one catalog with a type of every engine: its entries are loaded, changed, broken, mended and removed while
// requests flow through all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/support/client_crowd.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAreArray;

constexpr const char* kAnySchema = R"({"type": "object"})";

/// An entry that cannot be used.
struct BrokenEntry {
  std::string entry;  // lines
  /// The text of its fault, and the text of the configuration in whose line the fault is: that of a use if only the
  /// engine finds it.
  std::string says;
  std::string where;
};

/// An engine with a type of it in the catalog. A step of that type marks a request with the name of its entry.
struct CatalogEngine {
  std::string name;
  std::string type;
  std::string first;   // the lines of one entry, which marks by kFirst
  std::string second;  // the lines of another one
  std::vector<BrokenEntry> broken;
  /// True if the type is there without an entry too; it then marks as the second entry does.
  bool isBuiltin = false;
};

std::string scriptOf(const std::string& script) {
  return entryOf("acme.test/Lua:v1", "lua", "request-headers", "lua:\n" + blockOf("script", script, "  "));
}

/// A restriction of a built-in type; its default priority decides whether it comes before the step beside it.
CatalogEngine builtinEngine() {
  const std::string type = "sluice.dev/HeaderModifier:v1";
  const auto entry = [&](const std::string& more) { return entryOf(type, "builtin", "request-headers", more); };
  return {.name = "builtin",
          .type = type,
          .first = entry("defaults: {priority: 10}\n"),
          .second = entry("defaults: {priority: 0}\n"),
          .broken = {{entryOf(type, "builtin", "request-heads", ""), "builtin.yaml: phases[0]: must be one",
                      "request-heads"},
                     {entry("defaults: {priority: high}\n"), "defaults.priority: must be", "priority: high"},
                     {entryOf(type, "builtin", "request-headers", "lua: {}\n"), "lua: unknown field", "    lua: {}"}},
          .isBuiltin = true};
}

CatalogEngine luaEngine() {
  const auto marking = [](const std::string& mark) {
    return scriptOf("function request_headers(m)\n  m.headers:set(\"x-mark-lua\", \"" + mark + "\")\nend");
  };
  const std::string use = "name: lua, ";
  return {
      .name = "lua",
      .type = "acme.test/Lua:v1",
      .first = marking("first"),
      .second = marking("second"),
      .broken = {{scriptOf("function request_headers(m)\n  if\nend"), "processor.lua:3: unexpected symbol near", use},
                 {scriptOf("local never\nnever.there = 1"), "processor.lua:2: attempt to index a nil value", use},
                 {scriptOf("function request_body(m) end"), "has no function for a phase", use},
                 {entryOf("acme.test/Lua:v1", "lua", "request-headers", "lua: {script: x, instructions: some}\n"),
                  "lua.instructions: must be", "instructions: some"},
                 {entryOf("acme.test/Lua:v1", "lua", "request-headers", "lua: {scriptRef: {name: absent}}\n"),
                  "lua.scriptRef: ConfigMap test/absent does not exist", "lua.yaml: |"}}};
}

CatalogEngine libraryEngine() {
  const std::string type = "acme.test/Library:v1";
  const auto entry = [&](const std::string& file, const std::string& schemas) {
    return entryOf(type, "library", "request-headers", "library: {file: " + file + "}\n", schemas);
  };
  const std::string use = "name: library, ";
  return {.name = "library",
          .type = type,
          .first = entry("good.so", "first-schema"),
          .second = entry("good.so", "second-schema"),
          .broken = {{entry("absent.so", "first-schema"), "library absent.so: it is not in the folder", use},
                     {entry("no_symbol.so", "first-schema"), "library no_symbol.so: ", use},
                     {entry("../good.so", "first-schema"), "library.file: must be the name of a file", "../good.so"},
                     {entry("good.so", "no-schema"), "schemaRef: ConfigMap test/no-schema does not exist",
                      "library.yaml: |"}}};
}

CatalogEngine externalEngine() {
  const std::string type = "acme.test/External:v1";
  const auto entry = [&](const std::string& settings) {
    return entryOf(type, "ext-proc", "request-headers",
                   "extProc: {processingMode: {responseHeaders: Skip}" + settings + "}\n");
  };
  const auto asking = [&](const std::string& server) { return entry(", backendRefs: [" + backendRef(server) + "]"); };
  const std::string use = "name: ext-proc, ";
  return {.name = "ext-proc",
          .type = type,
          .first = asking("first"),
          .second = asking("second"),
          .broken = {{entry(""), "backendRefs: is required", use},
                     {asking("absent"), "Backend test/absent: it does not exist", use},
                     {entry(", protocol: Smoke"), "the catalog's extProc: /protocol: must be one of", use},
                     {entryOf(type, "ext-proc", "request-headers", "extProc: [first]\n"), "extProc: must be a map",
                      "extProc: [first]"}}};
}

/// Every engine of the program, which HaveARowForEveryEngineOfTheProgram checks.
std::vector<CatalogEngine> catalogEngines() {
  return {builtinEngine(), luaEngine(), libraryEngine(), externalEngine()};
}

std::vector<std::string> catalogEngineNames() {
  std::vector<std::string> names;
  for (const CatalogEngine& each : catalogEngines()) names.push_back(each.name);
  return names;
}

/// Starts a server that marks requests, and returns its port.
std::uint16_t startMarking(std::unique_ptr<ChildProcess>& server, const std::string& mark) {
  server = std::make_unique<ChildProcess>(
      std::vector<std::string>{programPath("sluice-ext-proc"), "--set", "x-mark-ext-proc=" + mark});
  const auto line = server->waitForLine("listening on ");
  EXPECT_TRUE(line) << server->errors();
  return line ? static_cast<std::uint16_t>(std::stoul(line->substr(line->rfind(' ') + 1))) : 0;
}

/// Returns the marks of a request in the order of their names, and marks of one name in their order:
/// "lua=first;library=first;".
std::string marksIn(const std::string& head) {
  constexpr std::string_view kMarkPrefix = "x-mark-";
  std::multimap<std::string, std::string> marks;
  std::istringstream lines(head);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kMarkPrefix)) continue;
    const std::size_t colon = line.find(": ");
    marks.emplace(line.substr(kMarkPrefix.size(), colon - kMarkPrefix.size()),
                  line.substr(colon + 2, line.find('\r') - colon - 2));
  }
  std::string all;
  for (const auto& [name, mark] : marks) all += name + "=" + mark + ";";
  return all;
}

/// An origin that answers each request with its marks.
void answerMarks(BlockingSocket& socket, RawOrigin& origin) {
  for (std::string head = origin.readHead(socket); !head.empty(); head = origin.readHead(socket)) {
    const std::string marks = marksIn(head);
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(marks.size()) + "\r\n\r\n" + marks);
  }
}

/// A path whose clients never pause, and the outcome of its requests.
struct WatchedPath {
  std::string path;
  std::string now;
  std::unique_ptr<ClientCrowd> crowd;
};

class CatalogOfEngines : public testing::TestWithParam<std::string> {
 protected:
  CatalogOfEngines() {
    for (const CatalogEngine& each : engines_) entries_[each.name] = each.first;
  }

  GatewaySpec spec() const {
    GatewaySpec made;
    made.workers = 2;
    made.options = {"--library-dir", SLUICE_PROGRAMS "/libraries"};
    made.settings = settings_;
    made.backends = {{.port = origin_.port()},
                     {.name = "first", .hostname = "first.test", .port = firstPort_},
                     {.name = "second", .hostname = "second.test", .port = secondPort_}};
    made.routes = routes();
    std::vector<std::pair<std::string, std::string>> data;
    for (const auto& [name, entry] : entries_) {
      if (!entry.empty()) data.emplace_back(name + ".yaml", entry);
    }
    if (hasCatalog_) made.routes += configMapOf("types", data);
    made.routes += configMapOf("schema", {{"schema.json", kAnySchema}});
    for (const std::string mark : {"first", "second"}) {
      made.routes += configMapOf(
          mark + "-schema",
          {{"schema.json",
            R"({"type": "object", "properties": {"do": {"type": "string", "default": "mark )" + mark + "\"}}}"}});
    }
    return made;
  }
  /// Returns the rules /closed/ENGINE, /open/ENGINE and /all. A step of a built-in type has another one beside it.
  std::string routes() const {
    std::string rules;
    std::string all;
    for (const CatalogEngine& each : engines_) {
      const std::string use = "{name: " + each.name + ", type: '" + each.type + "'";
      const std::string config =
          each.isBuiltin ? ", phase: request-headers, config: {add: [{name: x-mark-builtin, value: own}]}" : "";
      const std::string beside = each.isBuiltin ? ", {name: beside, type: 'sluice.dev/InProcess:v1', priority: 5, "
                                                  "phase: request-headers, config: {request: "
                                                  "{addHeaders: [{name: x-mark-builtin, value: \"'beside'\"}]}}}"
                                                : "";
      rules += rule("/closed/" + each.name, use + config + "}" + beside);
      rules += rule("/open/" + each.name, use + ", failOpen: true" + config + "}" + beside);
      all += (all.empty() ? "" : ", ") + use + config + "}" + beside;
    }
    return routeOfRules(rules + rule("/all", all));
  }
  static std::string rule(const std::string& path, const std::string& uses) {
    return "    - matches: [{path: {type: Exact, value: " + path + "}}]\n      filters: [" + inlined(uses) + "]\n" +
           backendRefs();
  }

  const CatalogEngine& engineOf(const std::string& name) const {
    return *std::find_if(engines_.begin(), engines_.end(),
                         [&](const CatalogEngine& each) { return each.name == name; });
  }
  /// Returns the marks of a step whose entry is the first one, the second one or none that can be used.
  std::string marksOf(const CatalogEngine& engine) const {
    const std::string& entry = entries_.at(engine.name);
    const bool isThere = hasCatalog_ && !settings_.empty() && !entry.empty();
    if (engine.isBuiltin) {
      if (isThere && entry == engine.first) return "builtin=beside;builtin=own;";
      return !isThere || entry == engine.second ? "builtin=own;builtin=beside;" : "builtin=beside;";
    }
    if (!isThere || (entry != engine.first && entry != engine.second)) return "";
    return engine.name + (entry == engine.first ? "=first;" : "=second;");
  }
  bool runs(const CatalogEngine& engine) const {
    const std::string& entry = entries_.at(engine.name);
    if (!hasCatalog_ || settings_.empty() || entry.empty()) return engine.isBuiltin;
    return entry == engine.first || entry == engine.second;
  }
  /// Returns the one outcome that a request of this path can have.
  std::string outcomeOf(const std::string& path) const {
    std::map<std::string, std::string> all;  // marks in the order of their names
    for (const CatalogEngine& each : engines_) {
      if (path == "/open/" + each.name) return marksOf(each);
      if (path == "/closed/" + each.name) return runs(each) ? marksOf(each) : "500";
      if (!runs(each)) all["0"] = "500";
      all[each.name] = marksOf(each);
    }
    if (all.contains("0")) return "500";
    std::string marks;
    for (const auto& [name, mark] : all) marks += mark;
    return marks;
  }

  void start() {
    gateway_ = std::make_unique<GatewayProcess>(spec());
    for (const CatalogEngine& each : engines_) paths_.push_back({"/closed/" + each.name, {}, {}});
    paths_.push_back({"/open/" + GetParam(), {}, {}});
    paths_.push_back({"/all", {}, {}});
    for (WatchedPath& each : paths_) watch(each);
    expectOutcomes();
  }
  void watch(WatchedPath& path) {
    path.now = outcomeOf(path.path);
    path.crowd =
        std::make_unique<ClientCrowd>(gateway_->port(), 2, "GET " + path.path + " HTTP/1.1\r\nHost: any.test\r\n\r\n");
  }
  /// Serves what the members say now. No request may have another outcome than the one before or the one behind the
  /// change, and those that begin behind it only the latter.
  void change(const std::string& how) {
    SCOPED_TRACE(how);
    gateway_->reload(spec());
    expectOutcomes();
  }
  void expectOutcomes() {
    constexpr std::size_t kEnough = 10;
    for (WatchedPath& each : paths_) {
      const std::string next = outcomeOf(each.path);
      EXPECT_TRUE(each.crowd->hasAnswers(kEnough, next)) << each.path << " should have the outcome " << next;
      for (const auto& [outcome, count] : each.crowd->finish()) {
        EXPECT_THAT(outcome, AnyOf(each.now, next)) << each.path << ", " << count << " times";
      }
      watch(each);
    }
  }

  /// Checks that the fault is reported with its object, its file and its line, and that the conditions have each use.
  void expectFault(const BrokenEntry& broken) const {
    const std::string text = gateway_->configuration();
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(text.find(broken.where));
    const std::string line = std::to_string(1 + std::count(text.begin(), end, '\n'));
    const TempDir folder;
    const std::string path = folder.write("a.yaml", text);
    const std::string output =
        run({programPath("sluice"), "validate", "--config", path, "--library-dir", SLUICE_PROGRAMS "/libraries"})
            .output;
    const std::size_t at = output.find(broken.says);
    ASSERT_NE(at, std::string::npos) << broken.says << " is not in " << output;
    const std::size_t begin = output.rfind(path, at);
    const bool isOfUse = broken.where.starts_with("name: ");
    EXPECT_THAT(output.substr(begin, at - begin),
                AllOf(StartsWith(path + ":" + line + ":"),
                      HasSubstr(isOfUse ? ": HTTPRoute test/all: spec.rules[" : ": ConfigMap test/types: ")));
    const std::string status = gateway_->adminGet("/status");
    const std::string says = isOfUse ? broken.says : "its entry in the catalog is not valid";
    EXPECT_THAT(status, AllOf(HasSubstr("\"type\":\"extension.sluice.dev/" + GetParam() + "\",\"status\":\"False\""),
                              HasSubstr(says)));
  }

  const std::vector<CatalogEngine> engines_ = catalogEngines();
  std::map<std::string, std::string> entries_;  // by engine; empty: the catalog has none
  bool hasCatalog_ = true;
  std::string settings_ = "processorCatalogs: [{namespace: test, name: types}]\n";
  std::unique_ptr<ChildProcess> firstServer_;
  std::unique_ptr<ChildProcess> secondServer_;
  const std::uint16_t firstPort_ = startMarking(firstServer_, "first");
  const std::uint16_t secondPort_ = startMarking(secondServer_, "second");
  const RawOrigin origin_{answerMarks};
  std::unique_ptr<GatewayProcess> gateway_;
  std::vector<WatchedPath> paths_;
};

INSTANTIATE_TEST_SUITE_P(Engines, CatalogOfEngines, testing::ValuesIn(catalogEngineNames()), [](const auto& each) {
  std::string name = each.param;
  std::erase(name, '-');
  return name;
});

TEST_P(CatalogOfEngines, IsLoadedChangedBrokenAndMendedUnderLoad) {
  start();
  const CatalogEngine& engine = engineOf(GetParam());
  std::string& entry = entries_.at(engine.name);
  entry = engine.second;
  change("changed");
  for (const BrokenEntry& broken : engine.broken) {
    entry = broken.entry;
    change("broken: " + broken.says);
    expectFault(broken);
    entry = entry == engine.first ? engine.second : engine.first;
    change("mended: " + broken.says);
    EXPECT_THAT(gateway_->adminGet("/status"),
                Not(HasSubstr("extension.sluice.dev/" + engine.name + "\",\"status\":\"False\"")));
  }
}

TEST_P(CatalogOfEngines, LosesAnEntryOrAllOfThemUnderLoadAndGetsThemBack) {
  start();
  const CatalogEngine& engine = engineOf(GetParam());
  std::string& entry = entries_.at(engine.name);
  entry.clear();
  change("without the entry");
  entry = engine.first;
  change("with the entry");
  hasCatalog_ = false;
  change("without the catalog");
  EXPECT_THAT(gateway_->adminGet("/status"), HasSubstr("\"ConfigMap test/types\",\"message\":\"does not exist"));
  hasCatalog_ = true;
  change("with the catalog");
  const std::string settings = std::exchange(settings_, "");
  change("with settings that name no catalog");
  settings_ = settings;
  entry = engine.second;
  change("with settings that name the catalog, and another entry");
}

TEST(CatalogEngines, HaveARowForEveryEngineOfTheProgram) {
  const TempDir folder;
  folder.write(
      "a.yaml",
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\nspec:\n"
      "  controllerName: sluice.dev/egress-gateway\n"
      "  parametersRef: {group: \"\", kind: ConfigMap, namespace: test, name: settings}\n" +
          configMapOf("settings", {{"settings.yaml", "processorCatalogs: [{namespace: test, name: types}]\n"}}) +
          configMapOf("types", {{"a.yaml", entryOf("acme.test/Any:v1", "none", "connect", "")}}));
  const std::string output = run({programPath("sluice"), "validate", "--config", folder.path()}).output;
  // "engine: must be builtin, lua or ext-proc, but is "none""
  const std::string begin = "engine: must be ";
  const std::size_t at = output.find(begin);
  ASSERT_NE(at, std::string::npos) << output;
  std::istringstream words(output.substr(at + begin.size(), output.find(" but is ", at) - at - begin.size()));
  std::vector<std::string> engines;
  for (std::string word; words >> word;) {
    std::erase(word, ',');
    if (word != "or") engines.push_back(word);
  }
  EXPECT_THAT(catalogEngineNames(), UnorderedElementsAreArray(engines));
}

}  // namespace
}  // namespace sluice::test
