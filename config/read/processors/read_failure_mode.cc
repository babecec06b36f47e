// Reads the spellings of one setting: what happens to a request when its processor fails. Some of them mean the
// opposite of others.
#include "config/read/processors/processor_readers.h"

namespace sluice::config {
namespace {

using Answer = std::optional<bool>;  // whether it fails open

constexpr Choice<Answer> kFailureModes[] = {
    {"FailOpen", true}, {"FailClosed", false}, {"open", true}, {"closed", false}};
/// The words are those of Kubernetes' webhooks.
constexpr Choice<Answer> kFailurePolicies[] = {{"Ignore", true}, {"Fail", false}};

Answer readBoolean(FieldReader& use, std::string_view key) {
  const Value* given = use.find(key);
  if (given == nullptr) return std::nullopt;
  const bool open = use.boolean(key, false);
  return given->kind == Value::Kind::kBool ? Answer(open) : std::nullopt;
}

}  // namespace

std::optional<bool> readFailOpen(FieldReader& use) {
  struct FailureModeSpelling {
    std::string_view key;
    Answer answer;
  };
  const FailureModeSpelling spellings[] = {
      {"failOpen", readBoolean(use, "failOpen")},
      {"failureMode", use.choice("failureMode", kFailureModes, Answer(), true)},
      {"failurePolicy", use.choice("failurePolicy", kFailurePolicies, Answer(), true)}};
  const FailureModeSpelling* said = nullptr;
  for (const FailureModeSpelling& spelling : spellings) {
    if (!spelling.answer) continue;
    if (said != nullptr && *said->answer != *spelling.answer) {
      use.error(spelling.key, "contradicts " + std::string(said->key));
    }
    if (said == nullptr) said = &spelling;
  }
  return said == nullptr ? std::nullopt : said->answer;
}

}  // namespace sluice::config
