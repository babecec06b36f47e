// The texts of the help and the manual page besides commands and options.
//
// A text is a list of paragraphs, each of them one line, however long. A line that begins with blanks is an example,
// and is shown as it is.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sluice::server {

struct HelpSection {
  std::string_view title;
  std::string_view text;
};

/// Returns the sections about the program as a whole.
std::span<const HelpSection> helpSections();

/// Returns them as the end of --help.
std::string helpFooter();

inline constexpr std::size_t kHelpWidth = 100;

/// Returns the text with its paragraphs broken into lines of at most `width` bytes, each after `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = kHelpWidth);

/// The --help of `sluice run`, `sluice explain` and `sluice check egress` ends with these.
extern const std::string_view kRunNotes;
extern const std::string_view kExplainNotes;
extern const std::string_view kEgressCheckNotes;

}  // namespace sluice::server
