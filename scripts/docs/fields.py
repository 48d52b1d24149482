"""A griffe extension: document the fields of a Struct as one table, in place of a heading per field."""

from __future__ import annotations

from typing import Any

from griffe import Alias, Attribute, Class, Docstring, DocstringAttribute, DocstringSectionAttributes, Extension, Object


class Fields(Extension):
    """Move the fields of every class without public methods into its docstring."""

    def on_class(self, *, cls: Class, **_: Any) -> None:
        attributes = {
            name: member
            for name, member in cls.members.items()
            if isinstance(member, Attribute) and not name.startswith("_")
        }
        if not attributes or any(_is_method(member) for member in cls.members.values()):
            return
        docstring = cls.docstring or Docstring("", parent=cls, parser="google")
        fields = [
            DocstringAttribute(name, annotation=member.annotation, description=_describe(member))
            for name, member in attributes.items()
        ]
        docstring.__dict__["parsed"] = [*docstring.parse("google"), DocstringSectionAttributes(fields)]
        cls.docstring = docstring
        for name in attributes:
            del cls.members[name]


def _is_method(member: Object | Alias) -> bool:
    return member.is_function and not member.name.startswith("_")


def _describe(field: Attribute) -> str:
    text = field.docstring.value if field.docstring else ""
    if field.value is None:
        return text
    if "class-attribute" in field.labels and "instance-attribute" not in field.labels:
        return f"{text} Always `{field.value}`.".strip()
    return f"{text} [default: `{field.value}`]".strip()
