# What Doxygen reads of a header: what is there, but for the following.

# Users write cuprum::Stream.
s/cuprum::inline CUPRUM_ABI/cuprum/

# Doxygen 1.9.4 does not understand a specialisation that is named with its namespace.
s/^struct std::hash</struct hash</

# What needs no words: a hash says in its class what it goes by; copies and comparisons that the compiler makes are what
# they are everywhere.
s|^  std::size_t operator()(const |  /** The hash. */ &|
/operator.* = default;$/s/.*//
s/^  \([A-Z][A-Za-z]*\)(const \1&[a-z_ ]*) = default;$//
s/^  \([A-Z][A-Za-z]*\)(\1&&[a-z_ ]*) noexcept = default;$//

# The functions that a list makes are to be in it, with what the list says of each.
s,^#include <\(cuprum/detail/\(device_properties\|kernel_attributes\)\.def\)>$,cat include/\1,e
s/CUPRUM_DEVICE_PROPERTY(\([a-z]*\), \([a-z0-9_]*\), [A-Z0-9_]*)/  \1 \2() const;/g
s/CUPRUM_KERNEL_ATTRIBUTE(\([a-z]*\), \([a-z0-9_]*\), [A-Z0-9_]*)/  \1 \2() const;/g
s|CUPRUM_SETTABLE_KERNEL_ATTRIBUTE(\([a-z]*\), \([a-z0-9_]*\), [A-Z0-9_]*)|  \1 \2() const; /** Sets it. */ void set_\2(\1 value) const;|g
