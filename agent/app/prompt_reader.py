"""`PromptReader`: the editor of a chat in a terminal, by prompt_toolkit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.history import History
from prompt_toolkit.input.typeahead import clear_typeahead, get_typeahead, store_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth

from agent.app.completion import ChatCompleter, Choices
from agent.app.reader import TWICE_S, Interrupted
from agent.app.terminal import Keyboard

__all__ = ["PromptReader"]

MENU_LINES = 6


class PromptReader:
    """Enter sends; Alt+Enter and Ctrl-J begin a new line; what is pasted stays one message.

    Ctrl-C clears the line; on an empty line it warns, and within 2 s after that it leaves. Ctrl-D leaves on an empty
    line. Ctrl-R searches `history`, Ctrl-X Ctrl-E opens $EDITOR. Between two prompts the terminal echoes nothing.
    `warn` prints the warning of Ctrl-C; `look` is the style of the prompt.
    """

    interactive = True

    def __init__(
        self, fd: int, *, choices: Choices, root: Path, history: History, warn: Callable[[], None], look: str = ""
    ) -> None:
        self._keyboard = Keyboard(fd)
        self._warn = warn
        self._last_interrupt = -TWICE_S
        self._printing: set[Awaitable[None]] = set()
        self._shown: Callable[[], None] | None = None
        # Without a style nothing may be coloured, and it would colour an aborted line
        depth = None if look else ColorDepth.DEPTH_1_BIT
        self._session: PromptSession[str] = PromptSession(
            [(look, "> ")],
            multiline=True,
            prompt_continuation=lambda width, line_number, wrap_count: " " * width,
            completer=ChatCompleter(choices, root),
            reserve_space_for_menu=MENU_LINES,
            key_bindings=self._keys(),
            history=history,
            search_ignore_case=True,
            enable_suspend=True,
            enable_open_in_editor=True,
            tempfile_suffix=".md",
            interrupt_exception=Interrupted,
            color_depth=depth,
        )
        self._session.app.after_render += self._after_render
        self._question: PromptSession[str] = PromptSession(interrupt_exception=Interrupted, color_depth=depth)
        self._keyboard.quiet()

    async def read(self, *, shown: Callable[[], None] | None = None) -> str:
        self._shown = shown
        self._last_interrupt = -TWICE_S
        text = await self._session.prompt_async(set_exception_handler=False, handle_sigint=False)
        self._look_ahead()
        return text

    async def ask(self, question: str) -> str:
        # What was typed before the question is no answer to it
        self._keyboard.forget()
        clear_typeahead(self._question.app.input)
        return await self._question.prompt_async(question, set_exception_handler=False, handle_sigint=False)

    def _look_ahead(self) -> None:
        """Keep what was typed right behind Enter. Ctrl-C there means the turn that is about to begin."""
        source = self._session.app.input
        keys = [*get_typeahead(source), *source.read_keys()]
        if any(key.key is Keys.ControlC for key in keys):
            raise Interrupted
        store_typeahead(source, keys)

    def interrupt(self) -> bool:
        for app in (self._question.app, self._session.app):
            if app.is_running:
                app.key_processor.send_sigint()
                return True
        return False

    def print_above(self, show: Callable[[], None]) -> None:
        if self._session.app.is_running:
            printing = asyncio.ensure_future(run_in_terminal(lambda: self._print_quietly(show)))
            self._printing.add(printing)
            printing.add_done_callback(self._printing.discard)
        else:
            show()

    def _print_quietly(self, show: Callable[[], None]) -> None:
        # `run_in_terminal` has the terminal turn Enter into Ctrl-J meanwhile, which would begin a new line
        self._keyboard.quiet()
        show()

    def close(self) -> None:
        self._keyboard.restore()

    def _after_render(self, app: object) -> None:
        shown, self._shown = self._shown, None
        if shown is not None:
            asyncio.get_running_loop().call_soon(self._call_shown, shown)

    def _call_shown(self, shown: Callable[[], None]) -> None:
        try:
            shown()
        except Exception as error:
            if not self._session.app.is_running:
                raise
            self._session.app.exit(exception=error)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        typing = has_focus(DEFAULT_BUFFER)

        @keys.add("enter", filter=typing)
        def send(event: KeyPressEvent) -> None:
            event.current_buffer.validate_and_handle()

        @keys.add("enter", filter=typing & Condition(self._is_choosing))
        def choose(event: KeyPressEvent) -> None:
            event.current_buffer.complete_state = None

        @keys.add("tab", filter=typing & Condition(self._is_only_folder))
        def descend(event: KeyPressEvent) -> None:
            event.current_buffer.complete_state = None
            event.current_buffer.start_completion(insert_common_part=True)

        @keys.add("escape", "enter", filter=typing)
        @keys.add("c-j", filter=typing)
        def new_line(event: KeyPressEvent) -> None:
            event.current_buffer.newline(copy_margin=False)

        @keys.add("c-c", filter=typing)
        @keys.add("<sigint>", filter=typing)
        def interrupt(event: KeyPressEvent) -> None:
            self._interrupted(event)

        return keys

    def _is_choosing(self) -> bool:
        """A path was picked from the menu: Enter takes it; a command is sent at once."""
        buffer = self._session.default_buffer
        state = buffer.complete_state
        return state is not None and state.current_completion is not None and not buffer.text.startswith("/")

    def _is_only_folder(self) -> bool:
        """The one thing that could be meant was taken, and has things in it."""
        state = self._session.default_buffer.complete_state
        chosen = state.current_completion if state is not None and len(state.completions) == 1 else None
        return chosen is not None and chosen.text.endswith("/")

    def _interrupted(self, event: KeyPressEvent) -> None:
        now = time.monotonic()
        if event.current_buffer.text:
            event.current_buffer.reset()
            self._last_interrupt = -TWICE_S
        elif now - self._last_interrupt < TWICE_S:
            event.app.exit(exception=EOFError())
        else:
            self._last_interrupt = now
            self.print_above(self._warn)
