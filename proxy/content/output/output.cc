#include "proxy/content/output/output.h"

#include "proxy/base/json_writer.h"

namespace sluice::content {
namespace {

void writeOutput(base::JsonWriter& json, const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      json.json("null");
      return;
    case Value::Kind::kBool:
    case Value::Kind::kNumber:
      json.json(value.text);
      return;
    case Value::Kind::kString:
      json.text(value.text);
      return;
    case Value::Kind::kList:
      json.beginList();
      for (const Value& item : value.items) writeOutput(json, item);
      json.endList();
      return;
    case Value::Kind::kMap:
      json.beginObject();
      for (const Member& member : value.members) writeOutput(json.key(member.key), member.value);
      json.endObject();
      return;
  }
}

}  // namespace

std::string outputJson(const Value& value) {
  base::JsonWriter json;
  writeOutput(json, value);
  return json.take();
}

}  // namespace sluice::content
