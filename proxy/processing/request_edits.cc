#include "proxy/processing/request_edits.h"

#include "proxy/processing/query_edit.h"

namespace sluice::processing {

void RequestEdit::applyTo(base::Arena& arena, http::RequestHead& head, bool withSecrets) const {
  const bool withheld = !withSecrets && http::isSecret(field.care);
  switch (kind) {
    case Kind::kAdd:
      if (!withheld) head.headers.add(arena, field);
      return;
    case Kind::kRemove:
      head.headers.remove(field.id, field.name);
      return;
    case Kind::kRemoveTwins:
      head.headers.removeTwins(field.name);
      return;
    case Kind::kRemoveSent:
      // Hygiene has checked the lines that came from a client, but not those that the gateway has put in.
      head.headers.removeIf([this](const http::Field& line) {
        return http::areTwins(line.name, field.name) && http::isClean(line.care);
      });
      return;
    case Kind::kSetParameter:
      head.target = replaceParameter(arena, head.target, field.name, withheld ? std::string_view() : field.value);
      head.secretControl = head.secretControl || (!withheld && http::isSecret(field.care));
      return;
    case Kind::kSetTarget:
      head.target = field.value;
      head.sentPath = {};
      head.unusualSlashes = false;
      return;
    case Kind::kSetMethod:
      head.methodText = field.value;
      head.method = http::methodFrom(field.value);
      return;
  }
}

void RequestEdits::rewind(Mark mark) {
  last_ = mark;
  (last_ != nullptr ? last_->next : first_) = nullptr;
}

void RequestEditor::make(const RequestEdit& edit) {
  if (late_) return;
  edit.applyTo(arena_, head_);
  if (log_ != nullptr) log_->add(arena_, step_, edit);
}

}  // namespace sluice::processing
