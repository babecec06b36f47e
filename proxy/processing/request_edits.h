// The changes that the steps of a request make to its head, in their order, so that they can be made once more on
// another head without running the steps again.
//
// When a route is matched again, the new route begins with the head as it was before the steps of the old one; the
// changes of the steps that still count are made on that head (RequestEdits::layOn). The list lives in the arena of the
// exchange; one thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/http/message.h"

namespace sluice::processing {

struct Step;

/// One change of a request head. Names of fields are in lower case; views live as long as the exchange.
struct RequestEdit {
  enum class Kind : std::uint8_t {
    kAdd,           // one more line of the field
    kRemove,        // every line of that name
    kRemoveTwins,   // every line of that name and of its twins (http::areTwins)
    kRemoveSent,    // the lines of kRemoveTwins, but only those that the client has sent
    kSetParameter,  // `field.value` ("name=value", encoded) in the place of the query's parameters of that name
    kSetTarget,     // `field.value` in the place of path and query, in normal form (http::normalizeTarget)
    kSetMethod      // `field.value` in the place of the method
  };

  Kind kind;
  http::Field field;

  /// Makes the change. Without `withSecrets`, a value that a step has marked as secret is left out, but the value that
  /// it replaces is removed all the same.
  void applyTo(base::Arena& arena, http::RequestHead& head, bool withSecrets = true) const;
};

class RequestEdits {
  struct EditRecord {
    const Step* by;
    EditRecord* next;
    const RequestEdit* edit;  // null: the step has begun
  };
  struct MadeEdit {
    EditRecord record;
    RequestEdit edit;
  };

 public:
  /// A former end of the list, to which it can be rewound.
  using Mark = EditRecord*;

  void begin(base::Arena& arena, const Step& step) { append(*arena.make<EditRecord>(&step, nullptr, nullptr)); }
  void add(base::Arena& arena, const Step& step, const RequestEdit& edit) {
    MadeEdit& made = *arena.make<MadeEdit>(EditRecord{&step, nullptr, nullptr}, edit);
    made.record.edit = &made.edit;
    append(made.record);
  }
  Mark end() const { return last_; }
  /// Forgets everything that was added after `mark`.
  void rewind(Mark mark);
  void clear() { first_ = last_ = nullptr; }
  bool empty() const { return first_ == nullptr; }

  /// Forgets the steps for which keep(const Step&) is false, and their changes.
  template <typename Keep>
  void keepIf(Keep&& keep) {
    EditRecord** to = &first_;
    last_ = nullptr;
    for (EditRecord* each = first_; each != nullptr; each = each->next) {
      if (!keep(*each->by)) continue;
      *to = last_ = each;
      to = &each->next;
    }
    *to = nullptr;
  }
  /// Makes the changes of the steps for which counts(const Step&) is true. A head that does not go to the chosen
  /// Backend (a mirror's) gets them without secrets.
  template <typename Counts>
  void layOn(base::Arena& arena, http::RequestHead& head, Counts&& counts, bool withSecrets = true) const {
    for (const EditRecord* each = first_; each != nullptr; each = each->next) {
      if (each->edit != nullptr && counts(*each->by)) each->edit->applyTo(arena, head, withSecrets);
    }
  }
  /// Returns true if a step has begun for which is(const Step&) is true.
  template <typename Is>
  bool hasBegun(Is&& is) const {
    for (const EditRecord* each = first_; each != nullptr; each = each->next) {
      if (each->edit == nullptr && is(*each->by)) return true;
    }
    return false;
  }

 private:
  void append(EditRecord& record) {
    (last_ != nullptr ? last_->next : first_) = &record;
    last_ = &record;
  }

  EditRecord* first_ = nullptr;
  EditRecord* last_ = nullptr;
};

/// Changes the head of a request for a step, which has no other way to do so. Each change is made at once, and kept in
/// `log` if the exchange may need it again.
class RequestEditor {
 public:
  /// `late` is true if the step has decided about the head already; its edits then have no effect.
  RequestEditor(base::Arena& arena, http::RequestHead& head, const Step& step, RequestEdits* log, bool late = false)
      : arena_(arena), head_(head), step_(step), log_(log), late_(late) {}

  /// Replaces every line of that name by one.
  void set(std::string_view name, std::string_view value) {
    remove(name);
    add(name, value);
  }
  void add(std::string_view name, std::string_view value) { add({name, value, http::fieldId(name)}); }
  void add(const http::Field& field) { make({RequestEdit::Kind::kAdd, field}); }
  void remove(std::string_view name) { make({RequestEdit::Kind::kRemove, {name, {}, http::fieldId(name)}}); }
  void removeTwins(std::string_view name) { make({RequestEdit::Kind::kRemoveTwins, {name, {}}}); }
  void removeSent(std::string_view name) { make({RequestEdit::Kind::kRemoveSent, {name, {}}}); }
  /// Sets a parameter of the query, see replaceParameter(). `care` decides whether the parameter is a secret.
  void setParameter(std::string_view name, std::string_view parameter, http::Care care) {
    make({RequestEdit::Kind::kSetParameter, {name, parameter, http::FieldId::kOther, care}});
  }
  /// Replaces path and query by a target in normal form.
  void setTarget(std::string_view target) { make({RequestEdit::Kind::kSetTarget, {{}, target}}); }
  /// Replaces the method by another one, a token. Neither may be one that decides whether a message has a body: CONNECT
  /// or HEAD.
  void setMethod(std::string_view method) { make({RequestEdit::Kind::kSetMethod, {{}, method}}); }

 private:
  void make(const RequestEdit& edit);

  base::Arena& arena_;
  http::RequestHead& head_;
  const Step& step_;
  RequestEdits* log_;
  const bool late_;
};

}  // namespace sluice::processing
