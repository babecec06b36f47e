// What the policies of one kind say of a rule or of the rules of a listener, as a value whose type is the kind's own.
//
// Such values are compared with those of the last compilation, and what was made of an equal value is kept.
#pragma once

#include <memory>
#include <utility>

namespace sluice::compile {

class PolicySettings {
 public:
  virtual ~PolicySettings() = default;

  /// Returns true if both say the same. `other` is of the same kind, and is of a rule or of a listener as this one is.
  virtual bool equals(const PolicySettings& other) const = 0;
};

/// Null if no policy says anything.
using SharedSettings = std::shared_ptr<const PolicySettings>;

template <typename Value>
class TypedSettings final : public PolicySettings {
 public:
  explicit TypedSettings(Value value) : value_(std::move(value)) {}

  const Value& value() const { return value_; }
  bool equals(const PolicySettings& other) const override {
    return value_ == static_cast<const TypedSettings&>(other).value_;
  }

 private:
  const Value value_;
};

template <typename Value>
SharedSettings sharedSettings(Value value) {
  return std::make_shared<const TypedSettings<Value>>(std::move(value));
}

/// Returns the value of settings that sharedSettings() made of that type.
template <typename Value>
const Value& settingsAs(const PolicySettings& settings) {
  return static_cast<const TypedSettings<Value>&>(settings).value();
}

inline bool sameSettings(const SharedSettings& a, const SharedSettings& b) {
  return a == b || (a != nullptr && b != nullptr && a->equals(*b));
}

}  // namespace sluice::compile
