// Finds the place where a field of an object is written, for messages about objects that were read earlier.
//
// It reads the texts of a set again, each at most once and only if a caller asks for one of its objects. So the model
// needs no position for each of its fields. It belongs to one thread and lives as long as one report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/load/object_set.h"
#include "config/model/name_tuple_hash.h"

namespace sluice::config {

class FieldPlaces {
 public:
  /// `set` must outlive it.
  explicit FieldPlaces(const ObjectSet& set);

  /// Returns the position of the field, or of the nearest parent field that is written. If the path is empty, returns
  /// the position of the object. If there is no such object, the result has no file and line.
  Position find(const ObjectNameView& object, std::string_view field);

 private:
  struct WrittenObject {
    std::size_t text = 0;  // index of the text in the set
    const ObjectReading* reading = nullptr;
  };
  struct ReadAgain {
    std::vector<Document> documents;
    std::unordered_map<std::uint64_t, const Value*> objects;  // by line and column; items of Lists too
  };
  /// Returns the object as written; nullptr if it is not found.
  const Value* documentOf(const WrittenObject& object);

  const ObjectSet& set_;
  std::unordered_map<ObjectNameView, WrittenObject, NameTupleHash> objects_;
  std::map<std::size_t, ReadAgain> texts_;  // by their index in the set
};

}  // namespace sluice::config
