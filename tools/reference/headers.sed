# What Doxygen reads of a header: line for line what is there, but for the following.

# Users write cuprum::Stream.
s/cuprum::inline CUPRUM_ABI/cuprum/

# Doxygen 1.9.4 does not understand a specialisation that is named with its namespace.
s/^struct std::hash</struct hash</

# What needs no words: a hash says in its class what it goes by; copies and comparisons that the compiler makes are what
# they are everywhere.
s|^  std::size_t operator()(const .*cuprum::|  /** The hash. */ &|
/operator.* = default;$/s/.*//
s/^  \([A-Z][A-Za-z]*\)(const \1&[a-z_ ]*) = default;$//
s/^  \([A-Z][A-Za-z]*\)(\1&&[a-z_ ]*) noexcept = default;$//
