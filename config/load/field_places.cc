#include "config/load/field_places.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "config/yaml/yaml_reader.h"

namespace sluice::config {
namespace {

/// Removes the first step of a path and returns it: "rules" of "rules[0].matches", "[0]" of "[0].matches".
std::string_view takeStep(std::string_view& path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  std::size_t end = 0;
  if (path.starts_with("[\"")) {
    end = path.find("\"]");
    end = end == std::string_view::npos ? path.size() : end + 2;
  } else if (path.starts_with('[')) {
    end = std::min(path.find(']'), path.size() - 1) + 1;
  } else {
    end = std::min(path.find_first_of(".["), path.size());
  }
  const std::string_view step = path.substr(0, end);
  path.remove_prefix(end);
  return step;
}

/// Returns the value that the step leads to; nullptr if it is not written.
const Value* follow(const Value& value, std::string_view step) {
  if (step.starts_with("[\"") && step.size() >= 4) return value.find(step.substr(2, step.size() - 4));
  if (!step.starts_with('[')) return value.find(step);
  std::size_t index = 0;
  const auto parsed = std::from_chars(step.data() + 1, step.data() + step.size(), index);
  const bool found = parsed.ec == std::errc() && value.isList() && index < value.items.size();
  return found ? &value.items[index] : nullptr;
}

std::uint64_t keyOf(const Position& position) { return std::uint64_t{position.line} << 32 | position.column; }

}  // namespace

FieldPlaces::FieldPlaces(const ObjectSet& set) : set_(set) {
  for (std::size_t text = 0; text < set.readings.size(); ++text) {
    for (const ObjectReading& each : *set.readings[text]) {
      const ObjectIdentity& identity = each.identity;
      if (identity.name.empty()) continue;
      objects_.try_emplace({identity.group, identity.kind, identity.nameSpace, identity.name},
                           WrittenObject{text, &each});
    }
  }
}

Position FieldPlaces::find(const ObjectNameView& object, std::string_view field) {
  const auto found = objects_.find(object);
  if (found == objects_.end()) return {};
  const Position& whole = found->second.reading->position;
  if (field.empty() || whole.fileName().empty()) return whole;
  const Value* value = documentOf(found->second);
  if (value == nullptr) return whole;
  while (!field.empty()) {
    const Value* next = follow(*value, takeStep(field));
    if (next == nullptr) break;
    value = next;
  }
  return value->position;
}

const Value* FieldPlaces::documentOf(const WrittenObject& object) {
  if (object.text >= set_.texts.size()) return nullptr;
  const auto [read, isNew] = texts_.try_emplace(object.text);
  ReadAgain& text = read->second;
  if (isNew) {
    const KeptText& kept = *set_.texts[object.text];
    Problems ignored;  // no problems can occur, because the text could be read before
    text.documents = readYaml(kept.text.reveal(), {std::make_shared<const std::string>(kept.file)}, ignored);
    for (const Document& each : text.documents) {
      text.objects.emplace(keyOf(each.root.position), &each.root);
      const Value* items = each.root.find("items");
      if (items == nullptr || !items->isList()) continue;
      for (const Value& item : items->items) text.objects.insert_or_assign(keyOf(item.position), &item);
    }
  }
  const auto found = text.objects.find(keyOf(object.reading->position));
  return found == text.objects.end() ? nullptr : found->second;
}

}  // namespace sluice::config
