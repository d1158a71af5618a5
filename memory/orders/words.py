"""The English words by which an order to a later model is known, sorted by what they do in it."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DROP = _words("ignore disregard forget disobey unlearn neglect nevermind overlook")
DROPPING = _words("ignoring disregarding forgetting disobeying")
DROPPING_STARTS = _words("by start begin consider continue resume try and then . ; : ! ?")
FORCE = _words(
    "override overrule bypass discard dismiss abandon erase circumvent scrap supersede cancel void drop skip delete "
    "remove reject violate break overwrite nullify revoke wipe clear reset"
)  # files and tables override rules every day, so these count only where they aim at your or at all instructions
OBEY = _words(
    "follow obey heed respect comply adhere listen observe following obeying heeding respecting complying attention "
    "account mind"
)  # pay attention to, take into account
NOT = _words("not never dont cannot cant without avoid nor wont shouldnt mustnt doesnt didnt")
STOP = _words("no not never dont cannot cant without stop cease quit longer refuse neednt mustnt shouldnt")
TELLING = _words("did does has have had was were")  # "they did not follow the rules" gives no order
TO_OBEY = _words("have need to you should must any more ever pay paying take into")
ASIDE = _words("set put leave lay throw cast brush")

QUANTIFIERS = _words("all any every each your everything anything whatever what")
PRONOUNS = _words("all everything anything whatever what")
QUALIFIERS = _words(
    "previous previously prior above earlier preceding former foregoing aforementioned preexisting prev past initial "
    "original"
)
BARE = _words("above foregoing preceding")  # "disregard the above."
STRONG = _words(
    "instruction instructions directive directives guideline guidelines guardrail guardrails prompt prompts"
)
ONE_RULE = _words("rule command direction restriction policy")  # linters and programs have them, too
ASKED = _words("prompt prompts")  # programs have prompts, too
RULES = _words("rule rules command commands direction directions restriction restrictions guidance policy policies")
LOOSE = _words(
    "message messages context conversation conversations text content contents input inputs training programming "
    "words history constraint constraints order orders request requests teachings statements advice safeguards"
)
OBJECTS = STRONG | RULES | LOOSE
TRAITS = {
    **{word: {"all"} for word in QUANTIFIERS},
    **{word: {"named"} for word in QUALIFIERS},
    **{word: {"system"} for word in ("system", "developer")},
    "your": {"all", "named"},
}
FILLERS = _words(
    "the these those this that them my our its his her their both were was are is been being have has had given told "
    "received seen got now then please completely entirely simply just kindly immediately fully totally absolutely "
    "altogether whole entire full complete set list rest remainder session conversation chat out here today only very "
    "such mentioned stated listed said you current existing future later subsequent following nbsp br"
)
PREPOSITIONS = _words("of from by in to for with at on about")
ARTICLES = _words("the a an this that its our")
ENDERS = _words("and then or but so instead because , . ; : ! ?") | {"\n"}
STOPS = _words(". ; : ! ?")

YOU = _words("you youve youd")
MUST = _words("must should shall")
PLACES = _words("above before earlier previously beforehand prior far now")
TOLD = _words("given told taught instructed provided received learned learnt know knew sent")
CANCELLED = _words(
    "ignored disregarded forgotten overridden void voided cancelled canceled invalid revoked superseded null discarded"
)
COUNT = _words("apply exist existed count matter bind")
ALL_OR_YOURS = _words("all any every your pretend assume treat consider")

ADVERBS = _words("often sometimes usually rarely generally easily frequently commonly also still always ever even just")
MODALS = _words("may might can could would does did")
ADDRESSED = _words("you assistant agent ai")
NOT_PLURALS = _words("please always unless this assistants agents")
STEMS = _words(
    "ignor overlook disreg forg disob unlearn neglect never mind aside account wipe clear reset overr bypass discard "
    "dismiss abandon erase circum scrap supers cancel void drop skip delete remove reject violate break overwrite "
    "nullify revoke follow obey heed respect compl adhere listen observe attention previous prior earlier preceding "
    "above"
)  # where none of them stands there is no order
