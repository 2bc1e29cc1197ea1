import FoundationEssentials
import IndoorVocabulary

/// Encodes updates as server-sent events (WHATWG HTML, section 9.2), each once for all readers.
final class UpdateEncoding: Sendable {
    /// The delay in milliseconds after which a browser connects again.
    static let start = Array("retry: 2000\n\n".utf8)
    static let keepAlive = Array(":\n\n".utf8)
    /// The number of updates that are kept for other readers.
    private static let kept = 64

    private struct Encoded {
        let update: LiveMapUpdate
        let bytes: [UInt8]?
    }

    private let recent = Guarded<[Int: Encoded]>([:])

    /// Returns the text of an update; nil if it has a number that JSON can't represent.
    func bytes(of update: LiveMapUpdate) -> [UInt8]? {
        recent.withLock { recent in
            if let known = recent[update.id], known.update == update { return known.bytes }
            let bytes = Self.encoded(update)
            recent[update.id] = Encoded(update: update, bytes: bytes)
            if recent.count > Self.kept, let oldest = recent.keys.min() { recent[oldest] = nil }
            return bytes
        }
    }

    private static func encoded(_ update: LiveMapUpdate) -> [UInt8]? {
        let data: Data?
        switch update {
        case .frame(let frame): data = try? HTTPResponse.encoder.encode(frame)
        case .event(let event): data = try? HTTPResponse.encoder.encode(event)
        case .overview: data = Data("{}".utf8)
        }
        // The JSON has no line break, so one line of data is enough.
        return data.map { Array("id: \(update.id)\nevent: \(update.name)\ndata: ".utf8) + $0 + Array("\n\n".utf8) }
    }
}

extension LiveMapUpdate {
    /// The number in the sequence of frames and events.
    var id: Int {
        switch self {
        case .frame(let frame): frame.id
        case .event(let event): event.id
        case .overview(let id): id
        }
    }

    /// The name of the server-sent event.
    var name: String {
        switch self {
        case .frame: "frame"
        case .event: "event"
        case .overview: "overview"
        }
    }

    var isFrame: Bool { if case .frame = self { true } else { false } }
}
