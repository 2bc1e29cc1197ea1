/// A shell for which the tool writes a completion.
enum CompletionShell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    /// The script that completes the command lines of a tool.
    func script(for tool: ToolDescription) -> String {
        switch self {
        case .bash: BashCompletion(tool: tool).script
        case .zsh: ZshCompletion(tool: tool).script
        case .fish: FishCompletion(tool: tool).script
        }
    }

    /// A text as one word of these shells, in single quotation marks.
    func quoted(_ text: String) -> String {
        switch self {
        case .bash, .zsh: "'" + text.replacing("'", with: "'\\''") + "'"
        // In fish, a backslash before a quotation mark or another backslash is special.
        case .fish: "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        }
    }
}
