// Reads the fields that every use of a payload processor has, in any spelling; see processor_readers.h.
#include <algorithm>

#include "config/read/processors/processor_readers.h"
#include "config/read/processors/processor_settings.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxProcessorUses = 64;

enum class UseSpelling : std::uint8_t { kOwn, kRemote, kInProcess, kExtProcess };

UseSpelling spellingOf(FieldReader& use) {
  const Value* type = use.find("type");
  if (type == nullptr) return use.has("backendRefs") ? UseSpelling::kRemote : UseSpelling::kOwn;
  if (type->isString() && type->text == "InProcess") return UseSpelling::kInProcess;
  if (type->isString() && type->text == "ExtProcess") return UseSpelling::kExtProcess;
  return UseSpelling::kOwn;
}

void readOwnUse(FieldReader& reader, ProcessorUse& use) {
  use.type = reader.requiredText("type", rule::kProcessorType);
  use.phase = readProcessorPhase(reader);
  static_cast<ProcessorSettings&>(use) = readProcessorSettings(reader);
  const Value* config = reader.find("config");
  const Value* rawConfig = reader.find("rawConfig");
  if (config != nullptr && rawConfig != nullptr) reader.error("rawConfig", "must not be given together with config");
  for (const Value* given : {config, rawConfig}) {
    if (given == nullptr) continue;
    if (!given->isMap()) reader.error(given == config ? "config" : "rawConfig", "must be a map");
    use.config = *given;
  }
}

ProcessorUse readProcessorUse(FieldReader reader) {
  ProcessorUse use;
  use.path = reader.path();
  use.position = reader.position();
  use.name = reader.requiredText("name", rule::kRefName);
  if (spellingOf(reader) != UseSpelling::kOwn) use.timeout = reader.duration("timeout");
  switch (spellingOf(reader)) {
    case UseSpelling::kOwn:
      readOwnUse(reader, use);
      break;
    case UseSpelling::kRemote:
      readRemoteUse(reader, use);
      break;
    case UseSpelling::kInProcess:
      readInProcessUse(reader, use);
      break;
    case UseSpelling::kExtProcess:
      readExtProcessUse(reader, use);
      break;
  }
  reader.finish();
  return use;
}

}  // namespace

std::vector<ProcessorUse> readProcessorUses(FieldReader& holder, std::string_view key) {
  std::vector<ProcessorUse> uses;
  for (const Item& item : holder.list(key, kMaxProcessorUses)) uses.push_back(readProcessorUse(holder.map(item)));
  checkNames(uses, holder);
  return uses;
}

void checkNames(const std::vector<ProcessorUse>& uses, FieldReader& holder) {
  for (auto use = uses.begin(); use != uses.end(); ++use) {
    const bool repeated =
        std::any_of(uses.begin(), use, [&](const ProcessorUse& other) { return other.name == use->name; });
    if (repeated) holder.context().error(use->position, use->path + ".name", "repeats " + base::quote(use->name));
  }
}

}  // namespace sluice::config
