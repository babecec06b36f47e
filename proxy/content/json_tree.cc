#include "proxy/content/json_tree.h"

#include <algorithm>
#include <utility>

#include "proxy/base/text.h"

namespace sluice::content {

Position JsonTree::positionOf(std::size_t offset) {
  for (; counted_ < offset && counted_ < text_.size(); ++counted_) {
    if (text_[counted_] != '\n') continue;
    ++line_;
    lineBegin_ = counted_ + 1;
  }
  return {nullptr, line_, static_cast<std::uint32_t>(offset - lineBegin_ + 1)};
}

void JsonTree::key(std::string name, std::size_t offset) {
  open_.back().key = std::move(name);
  open_.back().keyPosition = positionOf(offset);
}

void JsonTree::begin(Value::Kind kind, std::size_t offset) {
  Open open;
  open.value.kind = kind;
  open.value.position = positionOf(offset);
  open_.push_back(std::move(open));
}

void JsonTree::scalar(Value::Kind kind, std::string text, std::size_t offset) {
  Value value;
  value.kind = kind;
  value.text = std::move(text);
  value.position = positionOf(offset);
  put(std::move(value));
}

void JsonTree::end() {
  Value value = std::move(open_.back().value);
  open_.pop_back();
  if (value.isMap()) checkNames(value);
  put(std::move(value));
}

void JsonTree::put(Value value) {
  if (open_.empty()) {
    root_ = std::move(value);
  } else if (Open& holder = open_.back(); holder.value.isList()) {
    holder.value.items.push_back(std::move(value));
  } else {
    holder.value.members.push_back({std::move(holder.key), holder.keyPosition, std::move(value)});
  }
}

// Sorts the names, because a map of a hostile text may have very many.
void JsonTree::checkNames(const Value& map) {
  if (!fault_.empty()) return;
  std::vector<const Member*> members;
  members.reserve(map.members.size());
  for (const Member& member : map.members) members.push_back(&member);
  std::stable_sort(members.begin(), members.end(),
                   [](const Member* one, const Member* other) { return one->key < other->key; });
  const auto twin = std::adjacent_find(members.begin(), members.end(),
                                       [](const Member* one, const Member* other) { return one->key == other->key; });
  if (twin == members.end()) return;
  const Position& at = (*(twin + 1))->position;
  fault_ = "line " + std::to_string(at.line) + ", column " + std::to_string(at.column) + ": repeats " +
           base::quote((*twin)->key);
}

base::Result<Value> JsonTree::take() && {
  if (!fault_.empty()) return base::Error::config(std::move(fault_));
  if (root_.position.line == 0) return base::Error::config("line 1, column 1: has no value");
  return std::move(root_);
}

}  // namespace sluice::content
