// A library of payload processors that edits heads and bodies, and answers requests, as the config of a use says:
// {"act": "set", "name": "x-a", "value": "1", "form": "none"}. `form` is that in which it gets bodies, such as
// "chunks-text"; with "inspect" the act is none.
#include <cctype>
#include <cstdint>
#include <string>

#include "filters/library/sluice_processor.h"

namespace {

const sluice_host* offered = nullptr;

struct EditingUse {
  std::string act;
  std::string name;
  std::string value;
  int form = SLUICE_BODY_NONE;
};

/// Returns the text of a member of the config, without a parser.
std::string memberIn(const std::string& config, const std::string& name) {
  const std::string key = "\"" + name + "\":\"";
  const std::size_t at = config.find(key);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size();
  return config.substr(begin, config.find('"', begin) - begin);
}

std::size_t configureEdits(const char*, std::size_t, const char* config, std::size_t size, std::uint32_t, void** use,
                           char*, std::size_t) {
  const std::string text(config, size);
  const std::string form = memberIn(text, "form");
  auto* const made = new EditingUse{memberIn(text, "act"), memberIn(text, "name"), memberIn(text, "value")};
  if (form.starts_with("whole")) made->form = SLUICE_BODY_WHOLE;
  if (form.starts_with("chunks")) made->form = SLUICE_BODY_CHUNKS;
  if (form.starts_with("inspect")) made->form = SLUICE_BODY_INSPECT;
  if (form.ends_with("-text")) made->form |= SLUICE_BODY_TEXT;
  *use = made;
  return 0;
}

void releaseEdits(void* use) { delete static_cast<EditingUse*>(use); }

int bodyOfEdits(void* use, int) { return static_cast<EditingUse*>(use)->form; }

void editBody(const EditingUse& use, sluice_call* call) {
  if (offered->has_body(call) == 0) return;
  std::string bytes(offered->body_size(call), ' ');
  offered->body_read(call, 0, bytes.data(), bytes.size());
  if (use.act == "upper") {
    for (char& each : bytes) each = static_cast<char>(std::toupper(each));
  }
  if (use.act == "append" && offered->body_is_last(call) == 1) bytes += use.value;
  // The memory of a step says only whether the text in front of the body has gone on.
  if (use.act == "prepend" && offered->memory(call) == nullptr &&
      (!bytes.empty() || offered->body_is_last(call) == 1)) {
    offered->set_memory(call, const_cast<EditingUse*>(&use));
    bytes.insert(0, use.value);
  }
  offered->body_write(call, bytes.data(), bytes.size());
}

int answer(const EditingUse& use, sluice_call* call) {
  offered->respond(call, 418, use.value.data(), use.value.size());
  offered->respond_header(call, "x-a", 3, "stopped", 7);
  return SLUICE_RESPOND;
}

int applyEdits(void* configured, sluice_call* call) {
  const auto& use = *static_cast<const EditingUse*>(configured);
  const std::string& name = use.name;
  const std::string& value = use.value;
  if (use.act == "set") offered->header_set(call, name.data(), name.size(), value.data(), value.size());
  if (use.act == "add") offered->header_add(call, name.data(), name.size(), value.data(), value.size());
  if (use.act == "remove") offered->header_remove(call, name.data(), name.size());
  if (use.act == "upper" || use.act == "append" || use.act == "prepend") editBody(use, call);
  if (use.act != "stop") return SLUICE_CONTINUE;
  const char* text = nullptr;
  std::size_t size = 0;
  const bool isMeant = offered->header(call, "x-stop", 6, &text, &size) == 1 && std::string(text, size) == value;
  return isMeant ? answer(use, call) : SLUICE_CONTINUE;
}

}  // namespace

extern "C" {
const sluice_processor* sluice_processor_v1(const sluice_host* of) {
  offered = of;
  static const sluice_processor kTable{sizeof(sluice_processor),
                                       SLUICE_PROCESSOR_MAJOR,
                                       SLUICE_PROCESSOR_MINOR,
                                       0x7f,
                                       configureEdits,
                                       releaseEdits,
                                       bodyOfEdits,
                                       applyEdits,
                                       nullptr};
  return &kTable;
}
}
