// Reads the fields that every use of a payload processor has, in any spelling; see processor_readers.h.
#include <algorithm>

#include "config/read/processors/processor_readers.h"
#include "config/read/processors/processor_settings.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxProcessorUses = 64;

void readOwnUse(FieldReader& reader, ProcessorUse& use) {
  reader.read(required("type"), use.type, rule::kProcessorType);
  reader.read("phase", use.phase, kProcessorPhases);
  readProcessorSettings(reader, use);
  const Value* config = reader.find("config");
  const Value* rawConfig = reader.find("rawConfig");
  if (config != nullptr && rawConfig != nullptr) reader.error("rawConfig", "must not be given together with config");
  for (const Value* given : {config, rawConfig}) {
    if (given == nullptr) continue;
    if (!given->isMap()) reader.error(given == config ? "config" : "rawConfig", "must be a map");
    use.config = *given;
  }
}

const ProcessorUse* findUse(const std::vector<ProcessorUse>& uses, std::string_view name) {
  const auto found =
      std::find_if(uses.begin(), uses.end(), [name](const ProcessorUse& each) { return each.name == name; });
  return found != uses.end() ? &*found : nullptr;
}

/// Reports fallbacks that lead to no use, or back to their own.
void checkFallbacks(std::vector<ProcessorUse>& uses, FieldReader& holder) {
  for (const ProcessorUse& use : uses) {
    const ProcessorUse* each = &use;
    std::size_t passed = 0;
    while (each != nullptr && each->fallback && !each->fallback->use.empty() && passed++ <= uses.size()) {
      each = findUse(uses, each->fallback->use);
    }
    if (each != nullptr && passed <= uses.size()) continue;
    const std::string why = each == nullptr ? "names no other use of the list" : "leads back to this use";
    holder.context().error(use.fallback->position, use.path + ".fallback.use", why);
  }
}

/// Returns the reader of the spelling that the use has.
auto readerOf(FieldReader& use) {
  const Value* type = use.find("type");
  if (type == nullptr) return use.has("backendRefs") ? readRemoteUse : readOwnUse;
  if (type->isString() && type->text == "InProcess") return readInProcessUse;
  if (type->isString() && type->text == "ExtProcess") return readExtProcessUse;
  return readOwnUse;
}

void readAnswer(FieldReader& reader, FallbackModel& fallback) {
  reader.read("status", fallback.status, {400, 599});
  reader.read("detail", fallback.detail, rule::kSentence);
}

void readFallback(FieldReader& reader, FallbackModel& fallback) {
  if (reader.has("use") == reader.has("response")) reader.error("use", "must be given, or response, but not both");
  reader.read("use", fallback.use, rule::kRefName);
  reader.read("response", fallback, readAnswer);
}

void readProcessorUse(FieldReader& reader, ProcessorUse& use) {
  reader.read(required("name"), use.name, rule::kRefName);
  reader.read("fallback", use.fallback, readFallback);
  const auto read = readerOf(reader);
  if (read != readOwnUse) reader.read("timeout", use.timeout);
  read(reader, use);
}

}  // namespace

void readProcessorUses(FieldReader& holder, std::string_view key, std::vector<ProcessorUse>& uses) {
  holder.read(key, uses, kMaxProcessorUses, readProcessorUse);
  checkNames(uses, holder);
  checkFallbacks(uses, holder);
}

void checkNames(const std::vector<ProcessorUse>& uses, FieldReader& holder) {
  for (auto use = uses.begin(); use != uses.end(); ++use) {
    const bool repeated =
        std::any_of(uses.begin(), use, [&](const ProcessorUse& other) { return other.name == use->name; });
    if (repeated) holder.context().error(use->position, use->path + ".name", "repeats " + base::quote(use->name));
  }
}

}  // namespace sluice::config
