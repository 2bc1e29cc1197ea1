import FoundationEssentials
import IndoorVocabulary

/// The paths of a live map's server.
package struct LiveMapRoutes: HTTPRoutes {
    /// The maximum size of a mark in bytes.
    private static let largestMark = 4_096
    /// The maximum number of frames in a response, and the default.
    static let mostFrames = 1_000
    static let usualFrames = 200
    /// The file of the page that describes the interface of the server.
    static let descriptionFile = "openapi.json"

    /// The paths beside the page's files.
    package enum Path: String, CaseIterable, Sendable {
        case venue = "/api/v1/venue"
        case plan = "/api/v1/plan"
        case tile = "/api/v1/tile"
        case frames = "/api/v1/frames"
        case events = "/api/v1/events"
        case stream = "/api/v1/stream"
        case radioMap = "/api/v1/radio-map"
        case health = "/api/v1/health"
        case marks = "/api/v1/marks"
        case beaconHistory = "/api/v1/beacons/history"
        case description = "/api/v1/openapi.json"
        case metrics = "/metrics"
    }

    /// Returns the history of the beacons of a venue as JSON, by the number of the venue; nil if it has none.
    package typealias BeaconHistory = @Sendable (_ venue: Int) async -> String?

    let content: any LiveMapContent
    let metrics: (@Sendable () async -> String)?
    private let hasSurvey: Bool
    private let beaconHistory: BeaconHistory?
    private let start = ContinuousClock.now
    private let encoding = UpdateEncoding()

    /// Creates the paths of a content.
    ///
    /// - Parameters:
    ///   - metrics: returns the content of `/metrics` in the OpenMetrics format; nil for none.
    ///   - hasSurvey: whether the server has the paths of surveys, too.
    ///   - beaconHistory: returns the history of a venue's beacons; nil if the session keeps none.
    package init(
        content: any LiveMapContent, metrics: (@Sendable () async -> String)?, hasSurvey: Bool = false,
        beaconHistory: BeaconHistory? = nil
    ) {
        (self.content, self.metrics, self.hasSurvey) = (content, metrics, hasSurvey)
        self.beaconHistory = beaconHistory
    }

    package func largestBody(of target: HTTPTarget) -> Int { Self.largestMark }

    package func checkMethod(_ method: String, _ target: HTTPTarget) throws(HTTPProblem) {
        try HTTPProblem.check(method, isChange: target.path == Path.marks.rawValue)
    }

    package func response(to request: HTTPRequest) async -> HTTPResponse {
        do throws(HTTPProblem) { return try await fulfilled(request) } catch { return HTTPResponse(error) }
    }

    private func fulfilled(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let path = Path(rawValue: request.target.path)
        // A misspelled parameter is an error instead of being ignored.
        try request.allowOnly(Self.parameters(of: path))
        switch path {
        case .venue:
            var overview = await content.overview()
            if hasSurvey { overview.survey = true }
            if beaconHistory != nil { overview.beaconHistory = true }
            return try .json(overview)
        case .plan, .tile: return try await image(request)
        case .frames: return try await frames(request)
        case .events:
            return try .json(EventsAnswer(events: await content.events()))
        case .stream: return try updates(request)
        case .radioMap:
            guard let radioMap = await content.radioMap() else { throw HTTPProblem(404, "There is no radio map.") }
            return try .json(radioMap)
        case .health:
            let uptime = start.duration(to: .now) / .seconds(1)
            return try .json(HealthAnswer(status: "ok", mode: await content.overview().mode, uptime: uptime))
        case .marks: return try await mark(request)
        case .beaconHistory:
            let venue = try request.requiredInteger("venue", in: .min ... .max)
            guard let text = await beaconHistory?(venue) else {
                throw HTTPProblem(404, "There is no readable history of the beacons of venue \(venue).")
            }
            return .json(written: Array(text.utf8))
        case .metrics:
            guard let metrics else { throw HTTPProblem(404, "This session has no metrics.") }
            let type = "application/openmetrics-text; version=1.0.0; charset=utf-8"
            return HTTPResponse(
                200, [.init("Content-Type", type), HTTPResponse.noStore], .bytes(Array(await metrics().utf8)))
        case .description: return try HTTPResponse.pageFile(Self.descriptionFile, for: request)
        case nil:
            let path = request.target.path
            return try HTTPResponse.pageFile(path == "/" ? "index.html" : String(path.dropFirst()), for: request)
        }
    }

    private static func parameters(of path: Path?) -> [String] {
        switch path {
        case .plan: ["venue", "map"]
        case .beaconHistory: ["venue"]
        case .tile: ["venue", "map", "level", "column", "row"]
        case .frames: ["from", "to", "limit"]
        case nil: ["token"]
        case .venue, .events, .stream, .radioMap, .health, .marks, .description, .metrics: []
        }
    }

    private func image(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        try await .planImage(
            request, isTile: request.target.path == Path.tile.rawValue, plan: content.plan(venue:map:),
            tile: content.tile(venue:map:level:column:row:))
    }

    private func frames(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let start = try request.seconds("from") ?? 0
        let end = try request.seconds("to") ?? .greatestFiniteMagnitude
        guard start <= end else { throw HTTPProblem(400, "The parameter 'from' must not be greater than 'to'.") }
        let limit = try request.integer("limit", in: 1...Self.mostFrames) ?? Self.usualFrames
        let frames = await content.frames(from: start, to: end, limit: limit + 1)
        guard frames.count > limit else { return try .json(FramesAnswer(frames: frames, next: nil)) }
        // Frames with the same instant are in one response, so that the next response begins after them.
        let next = frames[limit].t
        let page = Array(frames.prefix(limit).prefix { $0.t < next })
        guard page.isEmpty else { return try .json(FramesAnswer(frames: page, next: next)) }
        return try .json(FramesAnswer(frames: Array(frames.prefix(limit)), next: next.nextUp))
    }

    private func updates(_ request: HTTPRequest) throws(HTTPProblem) -> HTTPResponse {
        let last = try request.lastEventID()
        // The header makes nginx forward each event immediately.
        let headers = [
            HTTPResponse.type("text/event-stream"), HTTPResponse.noStore, HTTPHeader("X-Accel-Buffering", "no"),
        ]
        return HTTPResponse(
            200, headers,
            request.method == "HEAD" ? .none : .stream(UpdateStream(content: content, encoding: encoding, last: last)))
    }

    private func mark(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        try request.requireJSON()
        let place: LiveMapFrame.Place
        do { place = try JSONDecoder().decode(LiveMapFrame.Place.self, from: Data(request.body)) } catch {
            throw HTTPProblem(400, #"The body must be a place such as {"mapId": 1, "x": 2.5, "y": 4}."#)
        }
        if let reason = await content.mark(place) { throw HTTPProblem(409, reason) }
        return HTTPResponse(204, [HTTPResponse.noStore])
    }
}

/// The content of `/api/v1/frames`.
struct FramesAnswer: Encodable {
    let frames: [LiveMapFrame]
    /// The start of the next request in seconds; null after the last frame.
    let next: Double?

    private enum Key: CodingKey { case frames, next }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(frames, forKey: .frames)
        try container.encode(next, forKey: .next)
    }
}

/// The content of `/api/v1/events`.
struct EventsAnswer: Encodable {
    let events: [LiveMapEvent]
}

/// The content of `/api/v1/health`.
struct HealthAnswer: Encodable {
    let status: String
    let mode: LiveMapOverview.Mode
    /// Seconds since the start of the server.
    let uptime: Double
}

extension HTTPResponse {
    /// Returns the image of a plan or of one of its tiles, which the parameters of the request select.
    ///
    /// - Parameters:
    ///   - isTile: whether the request selects a tile, by level, column and row.
    ///   - plan: returns the image of a plan, by the numbers of the venue and of the map.
    ///   - tile: returns a tile, by the numbers of the venue and of the map, level, column and row.
    /// - Throws: `HTTPProblem` with status 400 if a parameter is missing or invalid, and with 404 without such an
    ///   image.
    package static func planImage(
        _ request: HTTPRequest, isTile: Bool, plan: @Sendable (Int, Int) async -> LiveMapImage?,
        tile: @Sendable (Int, Int, Int, Int, Int) async -> LiveMapImage?
    ) async throws(HTTPProblem) -> HTTPResponse {
        let venue = try request.requiredInteger("venue", in: .min ... .max)
        let map = try request.requiredInteger("map", in: .min ... .max)
        let image: LiveMapImage?
        if isTile {
            let level = try request.requiredInteger("level", in: 0...31)
            let column = try request.requiredInteger("column", in: 0...1_000_000)
            let row = try request.requiredInteger("row", in: 0...1_000_000)
            image = await tile(venue, map, level, column, row)
        } else {
            image = await plan(venue, map)
        }
        guard let image else { throw HTTPProblem(404, "Map \(map) of venue \(venue) has no such image.") }
        return .file(image.bytes, image.mediaType, tag: HTTPResponse.tag(of: image.bytes), for: request)
    }
}

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

/// The updates that a reader has not received yet.
///
/// If a reader is slower than the session, the buffer discards the oldest frames, and discards events only if no frame
/// is left.
package struct UpdateBuffer: Sendable {
    private struct Item {
        let bytes: [UInt8]
        let isFrame: Bool
    }

    /// The maximum number of waiting bytes; the newest update is kept even if it is larger.
    package let limit: Int
    private var items: [Item] = []
    /// The update that is being sent, and the number of its bytes that were sent.
    private var current: [UInt8] = []
    private var sent = 0
    private var waiting = 0
    /// The number of frames and events that were discarded.
    package private(set) var lostFrames = 0
    package private(set) var lostEvents = 0

    package init(limit: Int) { self.limit = limit }

    package var isEmpty: Bool { items.isEmpty && sent == current.count }

    /// Adds an update, and discards older ones beyond the limit.
    package mutating func append(_ bytes: [UInt8], isFrame: Bool) {
        items.append(Item(bytes: bytes, isFrame: isFrame))
        waiting += bytes.count
        while waiting > limit, items.count > 1 {
            let frame = items.dropLast().firstIndex { $0.isFrame }
            if frame == nil { lostEvents += 1 } else { lostFrames += 1 }
            waiting -= items.remove(at: frame ?? 0).bytes.count
        }
    }

    /// Moves the next bytes into `target`, and returns their number; 0 if none wait.
    package mutating func take(into target: UnsafeMutableRawBufferPointer) -> Int {
        var count = 0
        while count < target.count, !isEmpty {
            if sent == current.count {
                (current, sent) = (items.removeFirst().bytes, 0)
                waiting -= current.count
            }
            let piece = current[sent..<min(current.count, sent + target.count - count)]
            UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyBytes(from: piece)
            sent += piece.count
            count += piece.count
        }
        if isEmpty { (current, sent) = ([], 0) }
        return count
    }
}
