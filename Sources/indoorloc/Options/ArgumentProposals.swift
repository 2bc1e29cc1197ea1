/// The words that a shell proposes as an argument of an option, or as an operand.
package enum ArgumentProposals: Hashable, Sendable {
    /// Files and folders.
    case files
    /// Folders only.
    case folders
    /// These words.
    case words([String])
    /// None, because the argument is a number, a name or an address.
    case none

    /// The names of arguments that are paths of files. A venue packet and a data set may also be folders.
    private static let fileNames: Set<String> = [
        "ARCHIVE", "DATASET", "FILE", "INPUT", "OUTPUT", "PACKET", "RECORDING", "ROOMS", "V", "WALK", "WALKS",
    ]
    /// The names of arguments that are paths of folders.
    private static let folderNames: Set<String> = ["DIR", "FOLDER"]

    /// The proposals for an argument with this name in the help.
    init(argument: String) {
        if Self.fileNames.contains(argument) {
            self = .files
        } else {
            self = Self.folderNames.contains(argument) ? .folders : .none
        }
    }

    /// The proposals for operands as the help names them, such as `DIR PACKET...` or `DATASET|RECORDING...`.
    init(operands: String) {
        let names = operands.replacing("...", with: "").split { " |[]".contains($0) }
        let all = names.map { ArgumentProposals(argument: String($0)) }
        self = all.contains(.files) ? .files : all.first ?? .none
    }

    /// The values of an enumeration.
    package static func words<Word: RawRepresentable<String> & CaseIterable>(of type: Word.Type) -> ArgumentProposals {
        .words(Word.allCases.map(\.rawValue))
    }
}
