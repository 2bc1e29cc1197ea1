/// A problem that a page reports on its console or in its log.
///
/// Decoding fails for each other event of the DevTools protocol.
struct ReportedProblem: Decodable, CustomStringConvertible {
    struct NoProblem: Error {}

    private struct Message: Decodable {
        var method: String
        var params: Parameters
    }

    private struct Parameters: Decodable {
        var exceptionDetails: ExceptionDetails?
        var type: String?
        var args: [Object]?
        var entry: Entry?
    }

    private struct ExceptionDetails: Decodable {
        var text: String
        var url: String?
        var exception: Object?
    }

    private struct Object: Decodable {
        var description: String?
        var value: Text?
    }

    /// A value of the console as text.
    private struct Text: Decodable {
        var text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    private struct Entry: Decodable {
        var source: String
        var level: String
        var text: String
        var url: String?
    }

    let description: String

    init(from decoder: any Decoder) throws {
        let message = try Message(from: decoder)
        let parameters = message.params
        switch message.method {
        case "Runtime.exceptionThrown":
            guard let details = parameters.exceptionDetails else { throw NoProblem() }
            description = "exception: \(details.exception?.description ?? details.text)"
        case "Runtime.consoleAPICalled":
            guard let type = parameters.type, ["error", "warning", "assert"].contains(type) else { throw NoProblem() }
            let words = (parameters.args ?? []).compactMap { $0.value?.text ?? $0.description }
            description = "console.\(type): \(words.joined(separator: " "))"
        case "Log.entryAdded":
            guard let entry = parameters.entry, ["error", "warning"].contains(entry.level) else { throw NoProblem() }
            description = "\(entry.source) \(entry.level): \(entry.text) \(entry.url ?? "")"
        default: throw NoProblem()
        }
    }
}
