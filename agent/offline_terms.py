"""`terms_of`: the words of a text that carry meaning, the same for English and Chinese as far as `CONCEPTS` goes."""

from __future__ import annotations

import re

from agent.chinese import fold

__all__ = ["CONCEPTS", "terms_of"]

CONCEPTS = """
test 测试 | project 项目 专案 工程 | run 运行 执行 跑 | name call 名字 姓名 叫
like prefer love favourite favorite 喜欢 偏好 偏爱 习惯 爱 | hate dislike 讨厌 | language speak 语言
answer reply respond 回答 回复 | code 代码 程序 | editor 编辑器 | theme 主题 | dark 深色 暗色
light 浅色 亮色 | colour color 颜色 | email mail 邮箱 邮件 | birthday born 生日 | timezone 时区 | live 住
work 工作 | job role 职业 职位 | database 数据库 | branch 分支 | commit 提交 | deploy release 部署 发布
build compile 构建 编译 | version 版本 | package 包 | server 服务器 | port 端口 | file 文件
folder directory 目录 文件夹 | user 用户 | team 团队 | style 风格 | format 格式 | tab 制表符 | space 空格
chinese 中文 汉语 | english 英文 英语 | coffee 咖啡 | tea 茶 | food eat 食物 吃 | drink 喝 | music 音乐
city town 城市 | dog 狗 | cat 猫 | phone 电话 | document doc 文档 | command 命令 | tool 工具 | model 模型
memory 记忆 | meeting 会议 | deadline due 截止 期限 | dependency 依赖 | customer client 客户 | password 密码
key 密钥 | environment env 环境 | machine 机器 电脑 | lint linter 检查
"""
# One concept between two bars or line ends; its first word names it

_STOP = """
a about all am an and any anything are as at be been by can could did do does else everything for from had has
have he her him his how i if in into is it its know let me mine my no not of on or our please recall remember
say she should so some something tell than that the their them then there these they this those to us use used
uses using was we were what when where which who whom why will with would you your
"""
_CHINESE_STOP = re.compile(
    r"什么|怎么样?|怎样|如何|哪[个些里儿]?|多少|为什么|是否|是不是|有没有|知道|记得|关于|这个|那个|一下|还有|我们|你们|他们"
    r"|[你我他她它的了吗呢么吧是在用有请和与把给对也都就来去要会能将被让几谁]"
)


def terms_of(text: str) -> frozenset[str]:
    """Return the concepts in `text`, its other English words without their endings, and pairs of its other Chinese."""
    text = re.sub(r"['’]s\b", "", fold(text).casefold())
    words = [word for word in re.findall(r"[a-z][a-z0-9+#.-]*[a-z0-9+#]|[a-z]|\d+", text) if word not in _STOP_WORDS]
    terms = {_CONCEPT.get(_stem(word), _stem(word)) for word in words}
    rest = text
    for word, concept in _CHINESE_CONCEPTS:
        if word in rest:
            terms.add(concept)
            rest = rest.replace(word, " ")
    for run in re.findall(r"[\u3400-\u9fff]{2,}", _CHINESE_STOP.sub(" ", rest)):
        terms |= {run[at : at + 2] for at in range(len(run) - 1)}
    return frozenset(terms)


def _stem(word: str) -> str:
    for ending, least in (("ing", 6), ("ies", 5), ("ed", 5), ("es", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word


_STOP_WORDS = frozenset(_STOP.split())
_GROUPS = [group.split() for group in re.split(r"[|\n]", CONCEPTS) if group.strip()]
_CONCEPT = {_stem(word): group[0] for group in _GROUPS for word in group if word.isascii()}
_CHINESE_CONCEPTS = sorted(
    ((word, group[0]) for group in _GROUPS for word in group if not word.isascii()), key=lambda pair: -len(pair[0])
)
