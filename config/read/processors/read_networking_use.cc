// Reads processors in the spelling of the AI gateway working group's PayloadProcessor.
#include <array>
#include <string>
#include <utility>

#include "config/read/processors/processor_readers.h"
#include "config/yaml/value_builder.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxNetworkingUses = 16;
constexpr std::size_t kMaxHeaderEdits = 16;
constexpr std::size_t kMaxEditValueBytes = 1024;
constexpr TextRule kUseName{rule::kAnyText.matches, "a name", 63};

enum class NetworkingType : std::uint8_t { kInProcess, kExtProcess };
constexpr Choice<std::optional<NetworkingType>> kNetworkingTypes[] = {{"InProcess", NetworkingType::kInProcess},
                                                                      {"ExtProcess", NetworkingType::kExtProcess}};
constexpr Choice<bool> kNetworkingModes[] = {{"FailClosed", false}, {"FailOpen", true}};

/// One list of edits, and the list that it becomes.
struct EditList {
  std::string_view field;
  std::string_view member;
};
constexpr std::array<EditList, 2> kValueLists{{{"set", "setHeaders"}, {"add", "addHeaders"}}};

/// Returns {name, value} of an edit; its value is an expression.
Value readValueEdit(FieldReader edit) {
  Value result = emptyValue(Value::Kind::kMap, edit.position());
  addText(result, "name", edit.requiredText("name", rule::kHeaderName));
  edit.require("value");
  addMember(result, "value",
            scalarValue(Value::Kind::kString, edit.anyText("value", kMaxEditValueBytes), edit.positionOf("value")));
  edit.finish();
  return result;
}

Value readEdits(FieldReader message) {
  Value edits = emptyValue(Value::Kind::kMap, message.position());
  for (const auto& [field, member] : kValueLists) {
    if (!message.has(field)) continue;
    Value list = emptyValue(Value::Kind::kList, message.positionOf(field));
    for (const Item& item : message.list(field, kMaxHeaderEdits))
      list.items.push_back(readValueEdit(message.map(item)));
    addMember(edits, member, std::move(list));
  }
  if (message.has("remove")) {
    Value list = emptyValue(Value::Kind::kList, message.positionOf("remove"));
    for (const std::string& name : message.texts("remove", rule::kHeaderName, kMaxHeaderEdits)) {
      list.items.push_back(scalarValue(Value::Kind::kString, name, list.position));
    }
    addMember(edits, "removeHeaders", std::move(list));
  }
  message.finish();
  return edits;
}

void readHeaderEdits(FieldReader& use, ProcessorUse& result) {
  result.type = processor_type::kInProcess;
  result.configField = "inProcess";
  if (use.has("extProcess")) use.error("extProcess", "must not be given when type is InProcess");
  use.require("inProcess");
  FieldReader inProcess = use.map("inProcess");
  Value config = emptyValue(Value::Kind::kMap, inProcess.position());
  for (const std::string_view side : {"request", "response"}) {
    if (inProcess.has(side)) addMember(config, side, readEdits(inProcess.map(side)));
  }
  if (use.has("inProcess") && config.members.empty()) inProcess.require("request");
  inProcess.finish();
  result.config = std::move(config);
}

ProcessorUse readNetworkingUse(FieldReader use) {
  ProcessorUse result;
  result.path = use.path();
  result.position = use.position();
  result.name = use.requiredText("name", kUseName);
  result.timeout = use.duration("timeout");
  use.require("type");
  const auto type = use.choice("type", kNetworkingTypes, std::optional<NetworkingType>());
  if (type == NetworkingType::kExtProcess) {
    readExtProcessUse(use, result);
  } else if (type == NetworkingType::kInProcess) {
    readHeaderEdits(use, result);
  } else {
    use.ignore("inProcess");
    use.ignore("extProcess");
  }
  result.failOpen = use.choice("failureMode", kNetworkingModes, false);
  use.finish();
  return result;
}

}  // namespace

std::vector<ProcessorUse> readNetworkingUses(FieldReader& spec) {
  std::vector<ProcessorUse> uses;
  for (const Item& item : spec.list("processors", kMaxNetworkingUses)) {
    uses.push_back(readNetworkingUse(spec.map(item)));
  }
  checkNames(uses, spec);
  return uses;
}

}  // namespace sluice::config
