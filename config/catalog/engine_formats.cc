#include "config/catalog/engine_formats.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "config/yaml/value_builder.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxScriptBytes = std::size_t{1024} * 1024;  // more than a ConfigMap can have
constexpr std::uint64_t kLeastMemory = std::uint64_t{64} * 1024;
constexpr std::uint64_t kMostMemory = std::uint64_t{1024} * 1024 * 1024;
constexpr std::uint64_t kUsualMemory = std::uint64_t{8} * 1024 * 1024;
constexpr NumberRange kInstructions{1000, 1'000'000'000};
constexpr std::int64_t kUsualInstructions = 1'000'000;
constexpr std::size_t kMaxBackends = 16;

/// Reads either the script or the place where it is.
void readScript(FieldReader& settings, std::string_view nameSpace, CatalogEntry& entry) {
  const bool isHere = settings.has("script");
  const bool isElsewhere = settings.has("scriptRef");
  if (isHere == isElsewhere) {
    settings.error(isHere ? "must have script or scriptRef, and not both" : "must have script or scriptRef");
  }
  if (isHere) {
    const std::string script = settings.anyText("script", kMaxScriptBytes);
    Value text = textValue(script, settings.positionOf("script"));
    text.blockColumn = settings.find("script")->blockColumn;
    addMember(*entry.engineConfig, "script", std::move(text));
  }
  if (isElsewhere) entry.scriptRef = readCatalogRef(settings.map("scriptRef"), nameSpace, "processor.lua");
  addText(*entry.engineConfig, "source", entry.scriptRef ? std::string_view(entry.scriptRef->key) : "processor.lua");
}

void readLua(FieldReader& settings, std::string_view nameSpace, CatalogEntry& entry) {
  Value& made = *entry.engineConfig;
  readScript(settings, nameSpace, entry);
  addNumber(made, "memory", settings.quantity("memory", kLeastMemory, kMostMemory).value_or(kUsualMemory));
  std::int64_t instructions = kUsualInstructions;
  settings.read("instructions", instructions, kInstructions);
  addNumber(made, "instructions", static_cast<std::uint64_t>(instructions));
  Value backends = emptyValue(Value::Kind::kList, settings.positionOf("backends"));
  for (const Item& item : settings.list("backends", kMaxBackends)) {
    FieldReader reader = settings.map(item);
    Value& backend = backends.items.emplace_back(emptyMap(reader.position()));
    addText(backend, "group", kOwnGroup);
    addText(backend, "kind", "Backend");
    addText(backend, "name", reader.requiredText("name", rule::kObjectName));
    const std::string given = reader.text("namespace", rule::kNamespace);
    addText(backend, "namespace", given.empty() ? nameSpace : std::string_view(given));
    reader.finish();
  }
  addMember(made, "backends", std::move(backends));
}

/// Accepts a name that leads nowhere but into its own folder.
constexpr bool isPlainFileName(std::string_view text) {
  return !text.empty() && text.front() != '.' && std::all_of(text.begin(), text.end(), [](char c) {
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-' ||
           c == '+';
  });
}
constexpr TextRule kFileName{isPlainFileName, "the name of a file without a path, like pii-detector.so", 255};

void readLibrary(FieldReader& settings, std::string_view /*nameSpace*/, CatalogEntry& entry) {
  addText(*entry.engineConfig, "file", settings.requiredText("file", kFileName));
}

constexpr EngineFormat kFormats[] = {{kBuiltinEngine, kBuiltinEngine, nullptr},
                                     {"lua", "lua", readLua},
                                     {"library", "library", readLibrary},
                                     {"ext-proc", "extProc", nullptr}};

}  // namespace

std::span<const EngineFormat> engineFormats() { return kFormats; }

const EngineFormat& engineFormat(std::string_view name) {
  const auto found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                  [&](const EngineFormat& each) { return each.name == name; });
  assert(found != std::end(kFormats));
  return *found;
}

CatalogRef readCatalogRef(FieldReader reader, std::string_view nameSpace, std::string_view key) {
  CatalogRef ref{std::string(nameSpace), {}, std::string(key)};
  ref.name = reader.requiredText("name", rule::kObjectName);
  if (reader.has("namespace")) ref.nameSpace = reader.text("namespace", rule::kNamespace);
  if (reader.has("key")) ref.key = reader.text("key", rule::kRefName);
  reader.finish();
  return ref;
}

}  // namespace sluice::config
