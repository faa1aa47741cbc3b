"""Private modules of ``cuda.core`` that programs and tests reach into, over cuprum's own objects.

Nothing here is needed to use cuprum. A file stands for the module of cuda.core with its path:
``_memory/_copy_ops.py`` is what :mod:`cuprum.as_cuda_core` executes as ``cuda.core._memory._copy_ops``, so that names
that are set in that module, as tests do, are those that its functions see. Names that a file lacks are looked up in
cuprum's modules. Members of classes that are private in cuda.core are in ``members.py``.
"""
