// Documents -> Model: reads every object by itself, and says of each what is wrong with it.
//
// Everything but loadPaths() is a pure function. The loading thread's; the file source, the Kubernetes source, `sluice
// validate` and the tests all come through here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "config/problem.h"
#include "config/text_memo.h"
#include "config/yaml/document.h"
#include "config/yaml/source_text.h"
#include "proxy/base/secret.h"

namespace sluice::config {

struct Configuration {
  Model model;
  Problems problems;
  /// False if a text could not be read as YAML, or a path not at all: then the whole set is refused (C-11) and the
  /// model is empty.
  bool readable = true;
  /// See revision.h.
  std::string revision;
  /// Likewise of the EndpointSlices, which the revision leaves out.
  std::string endpointsDigest;
};

/// Each path is a file, or a folder whose *.yaml, *.yml and *.json files are taken in the order of their names,
/// subfolders not. `key` is that of the revision: one for the life of a process, and known to nobody else. `previous`
/// is what was served until now, if there was anything: see last_good.h. `memo` spares the parsing of texts that it has
/// seen in the call before, and changes nothing else.
Configuration loadPaths(const std::vector<std::string>& paths, const base::Secret& key, const Model* previous,
                        TextMemo& memo);

Configuration loadTexts(const std::vector<SourceText>& texts, const base::Secret& key, const Model* previous = nullptr);
/// Where nobody is told the revision.
Configuration loadText(std::string_view text, std::string_view file = "config.yaml");

/// `unknownFields`: an error in files, a warning in Kubernetes (C-14). Empty documents are skipped, Lists expanded.
Configuration loadDocuments(const std::vector<Document>& documents, Severity unknownFields, const base::Secret& key,
                            const Model* previous = nullptr);

}  // namespace sluice::config
