import ScanRecording

/// What `convert` writes, by the ending of the file's name.
enum ConvertedFormat {
    case recording
    case capture(BTSnoopDatalink)

    /// The endings, for people.
    static let endings = ".jsonl, .jsonl.gz, .btsnoop, .snoop, .log or .cfa"

    /// Finds the format; nil for any other ending.
    init?(path: String) {
        let name = path.lowercased()
        if name.hasSuffix(".jsonl") || name.hasSuffix(".jsonl.gz") {
            self = .recording
        } else if name.hasSuffix(".btsnoop") || name.hasSuffix(".snoop") {
            self = .capture(.monitor)
        } else if name.hasSuffix(".log") || name.hasSuffix(".cfa") {
            self = .capture(.uart)
        } else {
            return nil
        }
    }
}
