# For the run scripts of the examples, which read it: prints commands that can be pasted into another shell, whatever folder that is in.

# show_command COMMAND...: prints it on a line of its own, with quotes where a word needs them.
show_command() {
  local word line=
  for word in "$@"; do
    if [[ $word =~ ^[A-Za-z0-9_./:=@,+-]+$ ]]; then line+=" $word"; else line+=" ${word@Q}"; fi
  done
  echo "  $line"
}
