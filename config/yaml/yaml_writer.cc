#include "config/yaml/yaml_writer.h"

#include <yaml-cpp/yaml.h>

namespace sluice::config {
namespace {

void emit(YAML::Emitter& to, const Value& value) {
  switch (value.kind) {
    case Value::Kind::kMap:
      to << YAML::BeginMap;
      for (const Member& member : value.members) {
        to << YAML::Key << member.key << YAML::Value;
        emit(to, member.value);
      }
      to << YAML::EndMap;
      return;
    case Value::Kind::kList:
      to << YAML::BeginSeq;
      for (const Value& item : value.items) emit(to, item);
      to << YAML::EndSeq;
      return;
    case Value::Kind::kString:
      // The text is quoted, because a plain "true" or "7" would not be a string.
      to << YAML::DoubleQuoted << value.text;
      return;
    case Value::Kind::kNull:
      to << YAML::Null;
      return;
    case Value::Kind::kBool:
    case Value::Kind::kNumber:
      to << value.text;
      return;
  }
}

}  // namespace

std::string writeYaml(const Value& root) {
  YAML::Emitter emitter;
  emit(emitter, root);
  return std::string(emitter.c_str(), emitter.size()) + "\n";
}

}  // namespace sluice::config
