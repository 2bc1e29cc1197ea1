import IndoorVocabulary
import LiveMap
import LiveSurvey
import SessionMetrics
import TagTracking
import TextFormats
import VenueModel

/// The paths of the server of a fleet.
package struct TagRoutes: HTTPRoutes {
    /// The result of a gateway's message.
    package enum GatewayReply: Hashable, Sendable {
        case accepted
        /// The message is invalid, with the reason.
        case invalid(String)
        /// Too many messages wait; the gateway sends it again later.
        case busy
    }

    /// A receiver of messages: the format, the path after the format without a leading slash, the body, and the address
    /// of the client, if it is known.
    package typealias GatewayReceiver =
        @Sendable (_ format: GatewayFormat, _ path: String, _ body: [UInt8], _ client: String?) async -> GatewayReply

    /// The paths in addition to the page's files.
    package enum Path: String, CaseIterable, Sendable {
        case venue = "/api/v1/venue"
        case plan = "/api/v1/plan"
        case tile = "/api/v1/tile"
        case tags = "/api/v1/tags"
        case tag = "/api/v1/tags/{key}"
        case trail = "/api/v1/tags/{key}/trail"
        case tagReceivers = "/api/v1/tags/{key}/receivers"
        case register = "/api/v1/register"
        case collection = "/api/v1/tags.geojson"
        case visits = "/api/v1/history/visits"
        case dwells = "/api/v1/history/dwell"
        case activity = "/api/v1/history/activity"
        case positions = "/api/v1/history/positions"
        case positionsCSV = "/api/v1/history/positions.csv"
        case positionsGeoJSON = "/api/v1/history/positions.geojson"
        case receivers = "/api/v1/receivers"
        case receiverTags = "/api/v1/receivers/{id}/tags"
        case alerts = "/api/v1/alerts"
        case rooms = "/api/v1/rooms"
        case training = "/api/v1/rooms/training"
        case correction = "/api/v1/rooms/correction"
        case removal = "/api/v1/rooms/removal"
        case stream = "/api/v1/stream"
        case health = "/api/v1/health"
        case gateways = "/api/v1/gateways/{format}"
        case description = "/api/v1/openapi.json"
        case metrics = "/metrics"

        /// Whether a request to the path changes trained rooms.
        var isChange: Bool {
            switch self {
            case .training, .correction, .removal: true
            default: false
            }
        }
    }

    /// The maximum size of a gateway's message in bytes.
    package static let largestMessage = 1_000_000
    /// The file of the page that describes the interface of the server.
    static let descriptionFile = "openapi-tags.json"
    private static let tagPrefix = "/api/v1/tags/"
    private static let gatewayPrefix = "/api/v1/gateways/"
    private static let receiverPrefix = "/api/v1/receivers/"

    let board: TagBoard
    let title: String
    let venues: LiveMapVenues
    let metrics: (@Sendable () async -> String)?
    let gateways: GatewayReceiver?
    let hearings: (any HearingSource)?
    let history: TagHistory?
    let hasAlerts: Bool
    let rooms: RoomDesk?
    let survey: SurveyDesk?
    let interval: Duration
    private let start = ContinuousClock.now

    /// Creates the paths.
    ///
    /// - Parameters:
    ///   - board: the state of the tags and receivers.
    ///   - title: the title of the page.
    ///   - venue: the venue of the fleet.
    ///   - plans: the images of the venue's maps; nil without images.
    ///   - metrics: returns the content of `/metrics` in the OpenMetrics format; nil for none.
    ///   - gateways: receives the messages of gateways that use HTTP; nil to refuse them.
    ///   - history: the visits and positions of the past; nil if none are stored.
    ///   - hearings: lists the receivers that hear each tag; nil if the process doesn't know.
    ///   - hasAlerts: whether the process has rules of alerts.
    ///   - rooms: trains the rooms of a fleet without a floor plan; nil with a floor plan.
    ///   - survey: records surveys with tags; nil if the process has no folder for them.
    ///   - interval: the shortest time between two states of a tag in a stream.
    package init(
        board: TagBoard, title: String, venue: Venue, plans: (any LiveMapPlans)? = nil,
        metrics: (@Sendable () async -> String)? = nil, gateways: GatewayReceiver? = nil,
        hearings: (any HearingSource)? = nil, history: TagHistory? = nil, hasAlerts: Bool = false,
        rooms: RoomDesk? = nil, survey: SurveyDesk? = nil, interval: Duration = .milliseconds(500)
    ) {
        (self.board, self.title, self.metrics, self.gateways) = (board, title, metrics, gateways)
        self.hearings = hearings
        (self.history, self.hasAlerts, self.rooms, self.survey) = (history, hasAlerts, rooms, survey)
        (self.venues, self.interval) = (LiveMapVenues(list: [venue], plans: plans), interval)
    }

    /// Whether a request changes trained rooms, walks or the radio map.
    private func isChange(_ target: HTTPTarget) -> Bool {
        Path(rawValue: target.path)?.isChange ?? SurveyRoutes.Path(rawValue: target.path)?.isChange ?? false
    }

    package func checkMethod(_ method: String, _ target: HTTPTarget) throws(HTTPProblem) {
        try HTTPProblem.check(method, isChange: isChange(target) || target.path.hasPrefix(Self.gatewayPrefix))
    }

    package func largestBody(of target: HTTPTarget) -> Int {
        if SurveyRoutes.Path(rawValue: target.path) != nil { return SurveyRoutes.largestBody }
        if isChange(target) { return Self.largestChange }
        return target.path.hasPrefix(Self.gatewayPrefix) ? Self.largestMessage : 0
    }

    package func response(to request: HTTPRequest) async -> HTTPResponse {
        do throws(HTTPProblem) { return try await fulfilled(request) } catch { return HTTPResponse(error) }
    }

    private func fulfilled(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let text = request.target.path
        if let path = SurveyRoutes.Path(rawValue: text) {
            try request.allowOnly(path.parameters)
            guard let survey else {
                throw HTTPProblem(404, "This process records no surveys; 'track --survey DIR' does.")
            }
            return try await SurveyRoutes(survey).response(to: request, at: path)
        }
        let path = await path(of: text)
        // Reject a misspelled parameter instead of ignoring it.
        try request.allowOnly(Self.parameters(of: path))
        switch path {
        case .venue: return try .json(await overview())
        case .plan, .tile: return try await image(request, isTile: path == .tile)
        case .tags: return try await list(request)
        case .tag: return try await state(of: try key(text.dropFirst(Self.tagPrefix.count)))
        case .trail: return try await trail(request)
        case .tagReceivers: return try await receivers(hearing: request)
        case .register: return try await register(request)
        case .visits: return try await visits(request)
        case .dwells: return try await dwells(request)
        case .activity: return try await activity(request)
        case .positions: return try await positions(request)
        case .positionsCSV: return try await export(request, as: .csv)
        case .positionsGeoJSON: return try await export(request, as: .geoJSON)
        case .receiverTags: return try await tags(heardBy: request)
        case .collection: return try await collection(request)
        case .receivers: return await receivers()
        case .alerts: return try await alertList()
        case .rooms: return try await roomList()
        case .training: return try await train(request)
        case .correction: return try await correct(request)
        case .removal: return try await removeRoom(request)
        case .stream: return try stream(request)
        case .health: return await health()
        case .gateways: return try await receive(request)
        case .description: return try HTTPResponse.pageFile(Self.descriptionFile, for: request)
        case .metrics:
            guard let metrics else { throw HTTPProblem(404, "This fleet has no metrics.") }
            return .metrics(await metrics())
        case nil:
            let page = rooms == nil ? "tags.html" : "rooms.html"
            return try HTTPResponse.pageFile(text == "/" ? page : String(text.dropFirst()), for: request)
        }
    }

    /// Returns the path of a request; nil for a file of the page.
    private func path(of text: String) async -> Path? {
        if text.hasPrefix(Self.gatewayPrefix) { return .gateways }
        if text.hasPrefix(Self.receiverPrefix), text.hasSuffix(Self.tagsSuffix) { return .receiverTags }
        guard text.hasPrefix(Self.tagPrefix) else {
            return Path(rawValue: text).flatMap { $0.rawValue.contains("{") ? nil : $0 }
        }
        // The key of a tag may itself end with one of these texts.
        let ends: [(suffix: String, path: Path)] = [
            (Self.trailSuffix, .trail), (Self.receiversSuffix, .tagReceivers),
        ]
        guard let path = ends.first(where: { text.hasSuffix($0.suffix) })?.path,
            let key = TagKey(String(text.dropFirst(Self.tagPrefix.count)))
        else { return .tag }
        return await board.state(of: key) == nil ? path : .tag
    }

    private static let (trailSuffix, receiversSuffix, tagsSuffix) = ("/trail", "/receivers", "/tags")

    private static func parameters(of path: Path?) -> [String] {
        switch path {
        case .plan: ["venue", "map"]
        case .tile: ["venue", "map", "level", "column", "row"]
        case .tags: TagQuery.filters + ["after", "limit"]
        case .collection: TagQuery.filters
        case .trail: ["minutes"]
        case .register: ["located"]
        case .visits, .dwells: Self.historyFilters + ["after", "limit"]
        case .activity: Self.historyFilters + ["parts"]
        case .positions: Self.historyFilters + ["step", "after", "limit"]
        case .positionsCSV, .positionsGeoJSON: Self.historyFilters
        case .stream: ["tags", "after"]
        case nil: ["token"]
        case .venue, .tag, .tagReceivers, .receivers, .receiverTags, .alerts, .rooms, .training, .correction, .removal,
            .health, .gateways, .description, .metrics:
            []
        }
    }

    // MARK: Content

    private struct Overview: Encodable {
        let title: String
        let run: String
        let venues: [LiveMapVenue]
        /// Whether the process lists which receivers hear a tag.
        var hearings: Bool
        /// Whether the process has rules of alerts.
        var alerts: Bool
        /// Whether the process stores visits and positions.
        var history: Bool
        /// Whether tags have trained rooms instead of positions on a floor plan.
        var rooms: Bool
        /// Whether the process records surveys with tags.
        var survey: Bool
    }

    private func overview() async -> Overview {
        Overview(
            title: title, run: board.run, venues: await venues.descriptions(), hearings: hearings != nil,
            alerts: hasAlerts, history: history != nil, rooms: rooms != nil, survey: survey != nil)
    }

    private func image(_ request: HTTPRequest, isTile: Bool) async throws(HTTPProblem) -> HTTPResponse {
        try await .planImage(
            request, isTile: isTile, plan: venues.plan(venue:map:), tile: venues.tile(venue:map:level:column:row:))
    }

    private func list(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let query = try TagQuery(request)
        let limit = try request.integer("limit", in: 1...TagQuery.mostTags) ?? TagQuery.usualTags
        let after = request.target.query["after"]
        let (sorted, tags, change) = await board.states()
        var page: [LatestOutput] = []
        var count = 0
        var hasMore = false
        for key in sorted {
            guard let state = tags[key], query.selects(state) else { continue }
            count += 1
            if let after, key.description <= after { continue }
            if page.count < limit { page.append(state) } else { hasMore = true }
        }
        let entries = await board.entries(page)
        return Self.json(
            JSONWriter.object { json in
                TagJSON.write(entries, to: &json)
                json.add("count", count)
                json.add("change", "\(board.run)-\(change)")
                if hasMore { json.add("next", page.last?.tag.description) }
            })
    }

    private func key(_ text: Substring) throws(HTTPProblem) -> TagKey {
        guard let key = TagKey(String(text)) else { throw HTTPProblem(404, "The path has no tag.") }
        return key
    }

    private func state(of key: TagKey) async throws(HTTPProblem) -> HTTPResponse {
        guard let state = await board.state(of: key) else { throw HTTPProblem(404, "The tag '\(key)' is unknown.") }
        var json = JSONWriter()
        for entry in await board.entries([state]) { TagJSON.write(entry, to: &json) }
        return Self.json(json.bytes)
    }

    // MARK: Hearings

    private static let noHearings = HTTPProblem(404, "This process doesn't list which receivers hear a tag.")

    private func receivers(hearing request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let text = request.target.path.dropFirst(Self.tagPrefix.count).dropLast(Self.receiversSuffix.count)
        let key = try key(text)
        guard let hearings else { throw Self.noHearings }
        let heard = await hearings.hearings(of: key)
        let (state, isRegistered) = (await board.state(of: key), await board.isRegistered(key))
        guard !heard.isEmpty || state != nil || isRegistered == true else {
            throw HTTPProblem(404, "The tag '\(key)' is unknown.")
        }
        return Self.json(
            JSONWriter.object { json in
                json.add("tag", key.description)
                json.add("receivers", objects: heard) { hearing, json in
                    json.add("id", hearing.receiver)
                    json.add("known", hearing.isInVenue)
                    TagJSON.writeSignal(of: hearing, to: &json)
                }
            })
    }

    private func tags(heardBy request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let id = String(request.target.path.dropFirst(Self.receiverPrefix.count).dropLast(Self.tagsSuffix.count))
        guard let hearings else { throw Self.noHearings }
        guard let heard = await hearings.hearings(by: id) else {
            throw HTTPProblem(404, "The receiver '\(id)' is unknown, and has sent no reading.")
        }
        let shown = heard.prefix(TagQuery.mostTags)
        let names = await board.names(of: shown.map(\.tag))
        return Self.json(
            JSONWriter.object { json in
                json.add("id", heard.first?.receiver ?? id)
                json.add("tags", objects: shown) { hearing, json in
                    json.add("tag", hearing.tag.description)
                    json.add("name", names[hearing.tag])
                    TagJSON.writeSignal(of: hearing, to: &json)
                }
                json.add("count", heard.count)
            })
    }

    // MARK: Register

    private func register(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let isLocated: Bool? =
            switch request.target.query["located"] {
            case nil: nil
            case "true": true
            case "false": false
            default: throw HTTPProblem(400, "The parameter 'located' must be true or false.")
            }
        let tags = await board.registered(isLocated: isLocated)
        let readings = await hearings?.lastReadings(of: tags.map(\.entry.key)) ?? [:]
        return Self.json(
            JSONWriter.object { json in
                json.add("tags", objects: tags) { tag, json in
                    json.add("tag", tag.entry.key.description)
                    json.add("name", tag.entry.name)
                    json.add("located", tag.state != nil)
                    if let instant = readings[tag.entry.key] { json.add("lastReading", time: instant) }
                }
                json.add("count", tags.count)
            })
    }

    private func trail(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let key = try key(request.target.path.dropFirst(Self.tagPrefix.count).dropLast("/trail".count))
        let minutes = try request.integer("minutes", in: 1...10) ?? 10
        guard let points = await board.trail(of: key, minutes: Double(minutes)) else {
            throw HTTPProblem(404, "The tag '\(key)' is unknown.")
        }
        return Self.json(TagJSON.trail(points, of: key))
    }

    private func collection(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let query = try TagQuery(request)
        let (sorted, tags, _) = await board.states()
        let collection = TagCollection(sorted.lazy.compactMap { tags[$0] }.filter(query.selects))
        return HTTPResponse(
            200, [HTTPResponse.type("application/geo+json"), HTTPResponse.noStore], .bytes(collection.bytes))
    }

    private func receivers() async -> HTTPResponse {
        let (receivers, unknownGateways) = (await board.receivers, await board.unknownGateways)
        return Self.json(
            JSONWriter.object { json in
                json.name("receivers")
                json.beginArray()
                for receiver in receivers { TagJSON.write(receiver, to: &json) }
                json.endArray()
                guard let unknownGateways else { return }
                json.name("unknown")
                json.beginArray()
                for gateway in unknownGateways { TagJSON.write(gateway, to: &json) }
                json.endArray()
            })
    }

    private func health() async -> HTTPResponse {
        let count = await board.tagCount
        return Self.json(
            JSONWriter.object { json in
                json.add("status", "ok")
                json.add("uptime", start.duration(to: .now) / .seconds(1), decimals: 3)
                json.add("tags", count)
            })
    }

    private func stream(_ request: HTTPRequest) throws(HTTPProblem) -> HTTPResponse {
        var selected: Set<TagKey>?
        if let text = request.target.query["tags"] {
            var keys: Set<TagKey> = []
            for part in text.split(separator: ",") {
                guard let key = TagKey(escaped: part) else {
                    throw HTTPProblem(400, "The parameter 'tags' must be keys with commas between them.")
                }
                keys.insert(key)
            }
            selected = keys
        }
        // The header of a reconnection is newer than the parameter.
        let id = request.headers["last-event-id"] ?? request.target.query["after"] ?? ""
        let stream = TagStream(
            board: board, start: ChangeID(id, in: board.run), tags: selected, interval: interval)
        // With `X-Accel-Buffering`, nginx forwards each event at once.
        let headers = [
            HTTPResponse.type("text/event-stream"), HTTPResponse.noStore, HTTPHeader("X-Accel-Buffering", "no"),
        ]
        return HTTPResponse(200, headers, request.method == "HEAD" ? .none : .stream(stream))
    }

    private func receive(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        guard let gateways else { throw HTTPProblem(404, "This fleet accepts no messages over HTTP.") }
        let parts = request.target.path.dropFirst(Self.gatewayPrefix.count).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, let format = GatewayFormat(rawValue: String(name)) else {
            let known = GatewayFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw HTTPProblem(404, "The format '\(parts.first ?? "")' is unknown. Known are \(known).")
        }
        switch await gateways(format, parts.count > 1 ? String(parts[1]) : "", request.body, request.client) {
        case .accepted: return HTTPResponse(204, [HTTPResponse.noStore])
        case .invalid(let reason): throw HTTPProblem(400, reason)
        case .busy:
            throw HTTPProblem(503, "Too many messages wait.", [HTTPHeader("Retry-After", "1")])
        }
    }

    static func json(_ bytes: [UInt8]) -> HTTPResponse { .json(written: bytes) }
}

/// The parameters of a request for tags.
struct TagQuery {
    /// The maximum number of tags in a response, and the number by default.
    static let mostTags = 10_000
    static let usualTags = 1_000
    static let filters = ["room", "map", "q", "present"]

    private var room: String?
    private var map: Int?
    private var text: String?
    private var isPresent: Bool?

    init(_ request: HTTPRequest) throws(HTTPProblem) {
        room = request.target.query["room"]?.lowercased()
        map = try request.integer("map", in: .min ... .max)
        text = request.target.query["q"]?.lowercased()
        switch request.target.query["present"] {
        case nil: isPresent = nil
        case "true": isPresent = true
        case "false": isPresent = false
        default: throw HTTPProblem(400, "The parameter 'present' must be true or false.")
        }
    }

    /// Whether a tag has the room, the map and the presence, and the text in its key or name.
    func selects(_ state: LatestOutput) -> Bool {
        if let isPresent, state.isPresent != isPresent { return false }
        if let map, state.position?.mapID.rawValue != map { return false }
        if let room, state.room?.lowercased() != room { return false }
        guard let text, !text.isEmpty else { return true }
        return state.tag.description.lowercased().contains(text) || state.name?.lowercased().contains(text) ?? false
    }
}

/// The JSON of the HTTP interface for tags and receivers.
enum TagJSON {
    /// Writes the signal of a tag at a receiver as members.
    static func writeSignal(of hearing: HearingTable.Hearing, to json: inout JSONWriter) {
        json.add("rssi", hearing.rssi, decimals: 1)
        json.add("latestRssi", hearing.latestRSSI, decimals: 1)
        json.add("time", time: hearing.instant)
    }

    /// Writes the state of a tag as an object.
    static func write(_ entry: BoardTag, to json: inout JSONWriter) {
        let state = entry.state
        json.beginObject()
        json.add("tag", state.tag.description)
        json.add("name", state.name)
        if let isRegistered = entry.isRegistered { json.add("registered", isRegistered) }
        json.add("present", state.isPresent)
        json.add("since", time: state.presenceInstant)
        json.add("time", time: state.instant)
        json.add("epoch", state.epoch)
        json.add("sequence", state.sequence)
        if let position = state.position {
            json.name("position")
            json.beginObject()
            json.add("time", time: position.instant)
            position.writeMembers(to: &json)
            json.endObject()
        }
        if let trained = state.trained {
            json.name("room")
            json.beginObject()
            json.add("time", time: trained.instant)
            trained.writeMembers(to: &json)
            json.endObject()
        }
        entry.battery?.write(to: &json)
        json.endObject()
    }

    /// Writes states as the member `tags`.
    static func write(_ entries: some Sequence<BoardTag>, to json: inout JSONWriter) {
        json.name("tags")
        json.beginArray()
        for entry in entries { write(entry, to: &json) }
        json.endArray()
    }

    /// Writes a receiver as an object.
    static func write(_ receiver: ReceiverStatus, to json: inout JSONWriter) {
        json.beginObject()
        json.add("id", receiver.id)
        json.add("mapId", receiver.mapID.rawValue)
        json.add("x", receiver.point.x, decimals: 3)
        json.add("y", receiver.point.y, decimals: 3)
        json.add("health", receiver.health?.rawValue)
        json.add("text", receiver.text)
        if let instant = receiver.instant { json.add("since", time: instant) }
        if let instant = receiver.lastMessage { json.add("lastMessage", time: instant) }
        json.endObject()
    }

    /// Writes a gateway without a receiver as an object.
    static func write(_ gateway: GatewayActivity.UnknownGateway, to json: inout JSONWriter) {
        json.beginObject()
        json.add("name", gateway.name)
        json.add("nearest", gateway.nearest)
        json.add("text", gateway.text)
        json.add("lastMessage", time: gateway.latest)
        json.endObject()
    }

    /// Returns the trail of a tag.
    static func trail(_ points: [TagTrails.Point], of tag: TagKey) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 96 * points.count)
        json.beginObject()
        json.add("tag", tag.description)
        json.name("points")
        json.beginArray()
        for point in points {
            json.beginObject()
            json.add("time", time: point.instant)
            json.add("mapId", point.mapID.rawValue)
            json.add("x", Double(point.x), decimals: 3)
            json.add("y", Double(point.y), decimals: 3)
            json.add("radius", Double(point.radius), decimals: 3)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }
}
