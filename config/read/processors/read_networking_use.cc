// Reads processors in the spelling of the AI gateway working group's PayloadProcessor.
#include <string>
#include <utility>
#include <vector>

#include "config/read/processors/processor_readers.h"
#include "config/yaml/value_builder.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxNetworkingUses = 16;
constexpr std::size_t kMaxHeaderEdits = 16;
constexpr std::size_t kMaxEditValueBytes = 1024;
constexpr TextRule kUseName{rule::kAnyText.matches, "a name", 63};

constexpr std::string_view kNetworkingTypes[] = {"InProcess", "ExtProcess"};
constexpr Choice<bool> kNetworkingModes[] = {{"FailClosed", false}, {"FailOpen", true}};

/// Adds {name, value} of an edit; its value is an expression.
void readValueEdit(FieldReader& edit, Value& list) {
  Value& result = list.items.emplace_back(emptyMap(edit.position()));
  addText(result, "name", edit.requiredText("name", rule::kHeaderName));
  edit.require("value");
  addMember(result, "value", textValue(edit.anyText("value", kMaxEditValueBytes), edit.positionOf("value")));
}

void readEdits(FieldReader& message, Value& edits) {
  for (const std::string_view field : {"set", "add"}) {
    if (!message.has(field)) continue;
    Value& list = addList(edits, std::string(field) + "Headers", message.positionOf(field));
    for (const Item& item : message.list(field, kMaxHeaderEdits)) message.map(item).readInto(list, readValueEdit);
  }
  if (!message.has("remove")) return;
  const std::vector<std::string> names = message.texts("remove", rule::kHeaderName, kMaxHeaderEdits);
  addTexts(edits, "removeHeaders", names, message.positionOf("remove"));
}

void readHeaderEdits(FieldReader& use, ProcessorUse& result) {
  result.type = processor_type::kInProcess;
  result.configField = "inProcess";
  use.checkGoesWith("extProcess", false, "type is InProcess");
  use.require("inProcess");
  FieldReader inProcess = use.map("inProcess");
  Value config = emptyMap(inProcess.position());
  for (const std::string_view side : {"request", "response"}) {
    if (!inProcess.has(side)) continue;
    FieldReader message = inProcess.map(side);
    message.readInto(addMember(config, side, emptyMap(message.position())), readEdits);
  }
  if (inProcess.given() && config.members.empty()) inProcess.require("request");
  inProcess.finish();
  result.config = std::move(config);
}

void readNetworkingUse(FieldReader& use, ProcessorUse& result) {
  use.read(required("name"), result.name, kUseName);
  use.read("timeout", result.timeout);
  const std::string_view type = use.word(required("type"), kNetworkingTypes, {});
  if (type == "ExtProcess") {
    readExtProcessUse(use, result);
  } else if (type == "InProcess") {
    readHeaderEdits(use, result);
  } else {
    use.ignore("inProcess");
    use.ignore("extProcess");
  }
  result.failOpen = use.choice("failureMode", kNetworkingModes, false);
}

}  // namespace

void readNetworkingUses(FieldReader& spec, std::vector<ProcessorUse>& uses) {
  spec.read("processors", uses, kMaxNetworkingUses, readNetworkingUse);
  checkNames(uses, spec);
}

}  // namespace sluice::config
