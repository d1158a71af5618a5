"""The sentences of the offline model, in English and Chinese."""

from __future__ import annotations

__all__ = ["NOTES", "SAY"]

NOTES = (
    '(This is the built-in offline model: rules, not a language model. "help" lists what it understands; for a real '
    "model set OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL.)",
    "（这是内置的离线模型：按规则回答，不是语言模型。输入“帮助”看它能听懂什么；要用真正的模型，请设置 OPENAI_API_KEY，"
    "或 OPENAI_BASE_URL 和 OPENAI_MODEL。）",
)
# Told once a talk

SAY: dict[str, tuple[str, str]] = {
    "help": (
        "I am the built-in offline model: a table of rules, not a language model. I understand requests like these, in "
        "English and Chinese:\n{examples}\nFor a real model set OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL.",
        "我是内置的离线模型：一张规则表，不是语言模型。我能听懂这样的话（中英文都可以）：\n{examples}\n"
        "要用真正的模型，请设置 OPENAI_API_KEY，或 OPENAI_BASE_URL 和 OPENAI_MODEL。",
    ),
    "unknown": (
        "I cannot answer that: I am a table of rules, not a language model, and no rule and no entry in memory fits. "
        'Try "remember that ...", "what do you know about ...", "read FILE", "run COMMAND" or "help".',
        "我答不了：我是一张规则表，不是语言模型，没有规则适用，记忆里也没有相关内容。"
        "可以试试“记住……”“你知道……吗”“读取 文件”“运行 命令”或“帮助”。",
    ),
    "saved": ("Saved to {file}: {content}", "已记住（{file}）：{content}"),
    "stored": ("Saved to the archive: {content}", "已存入档案：{content}"),
    "dropped": ("Forgotten: {content}", "已忘掉：{content}"),
    "saved_already": ("That is in {file} already: {content}", "{file} 里已经有了：{content}"),
    "memory_off": (
        "Memory is off here, so nothing was saved or looked up. Make the folder .my_agent_core/memory, or use "
        "--memory-dir.",
        "这里没有开启记忆，所以什么都没有记住或查到。请建立 .my_agent_core/memory 文件夹，或使用 --memory-dir。",
    ),
    "memory_empty": ("Nothing is in memory yet.", "记忆里还什么都没有。"),
    "known": ("Memory says: {entries}", "记忆里写着：{entries}"),
    "not_known": ("Memory says nothing about {topic}.", "记忆里没有关于“{topic}”的内容。"),
    "which": (
        "{count} entries fit {what}; nothing was changed. Say which one: {entries}",
        "有 {count} 条和“{what}”相符，没有改动。请说明是哪一条：{entries}",
    ),
    "none_fits": (
        "No entry that I know of holds {what}; nothing was changed.",
        "我知道的条目里没有“{what}”，没有改动。",
    ),
    "no_output": ("Done; there was no output.", "完成，没有输出。"),
    "failed": ("That did not work. {error}", "没有成功。{error}"),
    "no_tool": ("There is no tool {tool!r} here, so I cannot do that.", "这里没有 {tool!r} 工具，所以做不到。"),
    "no_tools_now": ("I may not use tools any more in this turn.", "这一轮里不能再用工具了。"),
    "sub_agent": ("Sub-agent {number} says: {result}", "子代理 {number} 回答：{result}"),
    "summary": ("Extract of the talk, made by rules:\n{extract}", "由规则摘录的对话：\n{extract}"),
}
