import Foundation
import IndoorLocalization
import LiveMap
import VenueEditing
import VenuePackets

/// The paths of the page that edits a venue.
struct VenueEditRoutes: HTTPRoutes {
    /// The paths beside the page's files.
    private enum Path: String {
        /// The plans' images, and the problems of the document.
        case overview = "/api/v1/overview"
        /// The content of `venue.json`, to read and to replace.
        case document = "/api/v1/document"
        case plan = "/api/v1/plan"
        case tile = "/api/v1/tile"
    }

    private let file: EditedVenueFile
    private let title: String
    private let plans: PacketPlans

    /// - Parameter title: the title of the page.
    init(file: EditedVenueFile, title: String) {
        (self.file, self.title) = (file, title)
        plans = PacketPlans(PlanFiles(folder: file.folder))
    }

    func checkMethod(_ method: String, _ target: HTTPTarget) throws(HTTPProblem) {
        let allowed = target.path == Path.document.rawValue ? ["GET", "HEAD", "PUT"] : ["GET", "HEAD"]
        guard allowed.contains(method) else {
            let names = allowed.joined(separator: ", ")
            throw HTTPProblem(405, "The path accepts only \(names).", [HTTPHeader("Allow", names)])
        }
    }

    func largestBody(of target: HTTPTarget) -> Int {
        target.path == Path.document.rawValue ? EditedVenueFile.limit : 0
    }

    func response(to request: HTTPRequest) async -> HTTPResponse {
        do throws(HTTPProblem) { return try await fulfilled(request) } catch { return HTTPResponse(error) }
    }

    private func fulfilled(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let path = Path(rawValue: request.target.path)
        switch path {
        case .overview:
            try request.allowOnly([])
            return try await overview()
        case .document:
            try request.allowOnly([])
            return request.method == "PUT" ? try await replace(request) : try await document(request)
        case .plan, .tile: return try await image(request, isTile: path == .tile)
        case nil:
            try request.allowOnly(["token"])
            let name = request.target.path == "/" ? "edit.html" : String(request.target.path.dropFirst())
            return try HTTPResponse.pageFile(name, for: request)
        }
    }

    // MARK: The document

    private func edition() async throws(HTTPProblem) -> EditedVenueFile.Edition {
        do throws(BoundedFileError) { return try await file.edition() } catch { throw Self.problem(error) }
    }

    private static func problem(_ error: BoundedFileError) -> HTTPProblem {
        HTTPProblem(500, "\(EditedVenueFile.name) \(error)")
    }

    private func overview() async throws(HTTPProblem) -> HTTPResponse {
        let checked = await file.check(try await edition())
        var venues: [LiveMapVenue] = []
        if let venue = checked.venue { venues = await LiveMapVenues(list: [venue], plans: plans).descriptions() }
        return try .json(
            OverviewAnswer(
                title: title, venueId: venues.first?.id, maps: venues.first?.maps ?? [],
                problems: checked.problems.map(ProblemAnswer.init)))
    }

    private func document(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let edition = try await edition()
        return .file(edition.bytes, "application/json", tag: edition.revision.tag, for: request)
    }

    private func replace(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        // An HTML form of another site can't send this type.
        guard request.headers["content-type"]?.split(separator: ";").first?.lowercased() == "application/json" else {
            throw HTTPProblem(415, "The header Content-Type must be application/json.")
        }
        let outcome: EditedVenueFile.Outcome
        do throws(FileSystemError) {
            outcome = try await file.save(request.body, SaveCondition(header: request.headers["if-match"]))
        } catch {
            throw HTTPProblem(
                500,
                "\(EditedVenueFile.name) can't be written: \(error.reason). The file is unchanged. Check the folder, its "
                    + "permissions and the free space.")
        }
        switch outcome {
        case .refused(.unconditional, _):
            throw HTTPProblem(428, "The header If-Match is missing: send the ETag of the document that you changed.")
        case .refused(.changed, let current):
            throw HTTPProblem(
                412, "Another program has changed \(EditedVenueFile.name) since you opened it. Nothing was saved.",
                current.map { [HTTPHeader("ETag", $0.tag)] } ?? [])
        case .invalid(let problems):
            let count = problems.count { $0.severity == .error }
            return try answer(
                422,
                InvalidAnswer(
                    error: "The document has \(count == 1 ? "an error" : "\(count) errors"). Nothing was saved.",
                    problems: problems.map(ProblemAnswer.init)))
        case .saved(let revision, let warnings, let survey):
            let survey = survey.map { SavedAnswer.Survey(moved: $0.moved, removed: $0.removed) }
            return try answer(
                200, SavedAnswer(problems: warnings.map(ProblemAnswer.init), survey: survey),
                [HTTPHeader("ETag", revision.tag)])
        }
    }

    private func answer(
        _ status: Int, _ content: some Encodable, _ headers: [HTTPHeader] = []
    ) throws(HTTPProblem) -> HTTPResponse {
        var response = try HTTPResponse.json(content)
        response.status = status
        response.headers += headers
        return response
    }

    // MARK: Plans

    private func image(_ request: HTTPRequest, isTile: Bool) async throws(HTTPProblem) -> HTTPResponse {
        try request.allowOnly(isTile ? ["venue", "map", "level", "column", "row"] : ["venue", "map"])
        let known: Venue?
        do throws(BoundedFileError) { known = try await file.shownVenue() } catch { throw Self.problem(error) }
        let venues = LiveMapVenues(list: known.map { [$0] } ?? [], plans: plans)
        return try await .planImage(
            request, isTile: isTile, plan: venues.plan(venue:map:), tile: venues.tile(venue:map:level:column:row:))
    }
}

/// The content of `/api/v1/overview`.
private struct OverviewAnswer: Encodable {
    let title: String
    let venueId: Int?
    let maps: [LiveMapVenue.Map]
    let problems: [ProblemAnswer]
}

/// The answer to a document that was saved.
private struct SavedAnswer: Encodable {
    /// The beacons whose place no longer agrees with the survey.
    struct Survey: Encodable {
        let moved: [String]
        let removed: [String]
    }

    let problems: [ProblemAnswer]
    let survey: Survey?
}

/// The answer to a document with errors.
private struct InvalidAnswer: Encodable {
    let error: String
    let problems: [ProblemAnswer]
}

/// A problem of a document.
private struct ProblemAnswer: Encodable {
    let severity: String
    let path: String
    let message: String

    init(_ problem: VenueProblem) {
        (severity, path, message) = (problem.severity.rawValue, problem.path, problem.message)
    }
}

/// The `venue.json` of a packet's folder, which a page edits. Requests to save are served one after the other.
actor EditedVenueFile {
    /// A document with its revision.
    struct Edition: Sendable {
        let bytes: [UInt8]
        let revision: DocumentRevision
    }

    /// A document that was checked.
    struct Checked: Sendable {
        /// The venue, with its radio map; nil if a field that every venue needs is invalid.
        let venue: Venue?
        let problems: [VenueProblem]

        var isUsable: Bool { venue != nil && !problems.contains { $0.severity == .error } }
    }

    /// The result of a request to save.
    enum Outcome: Sendable {
        case refused(SaveRefusal, current: DocumentRevision?)
        /// The document has errors; the file is unchanged.
        case invalid([VenueProblem])
        case saved(DocumentRevision, warnings: [VenueProblem], survey: SurveyChanges?)
    }

    /// The name of the document in a packet.
    static let name = "venue.json"
    /// The maximum size of the document in bytes.
    static let limit = InputLimits.standard.venueFile

    /// The absolute path of the packet.
    nonisolated let folder: String
    /// The path of the document within the folder, without symbolic links: saving replaces the file, not a link to it.
    private let document: String
    private var path: String { folder + "/" + document }
    private let read: @Sendable (_ file: String, _ folder: String) throws(BoundedFileError) -> [UInt8]
    private var checked: (revision: DocumentRevision, result: Checked)?
    /// The venue of the latest plan that was requested, and the state of the file from which it was read.
    private var shown: (stamp: FileStamp, venue: Venue?)?

    /// Opens a packet for editing.
    ///
    /// - Parameter read: reads a file of the packet's folder.
    /// - Throws: `CommandError` if the path isn't a packet's folder, or the folder can't be written.
    init(
        packet: String,
        read: @escaping @Sendable (_ file: String, _ folder: String) throws(BoundedFileError) -> [UInt8] = {
            file, folder throws(BoundedFileError) in
            try BoundedFile.read(file, below: folder, limit: EditedVenueFile.limit)
        }
    ) throws(CommandError) {
        self.read = read
        func failure(_ reason: String) -> CommandError { CommandError(description: "\(packet): \(reason)") }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: packet, isDirectory: &isFolder) else {
            throw failure("there is no such folder; give the folder of a venue packet")
        }
        guard isFolder.boolValue else {
            throw failure(
                "is a file; 'venue edit' needs a packet's folder: unzip a zip into a folder, and edit that folder")
        }
        folder = URL(filePath: packet).standardizedFileURL.resolvingSymlinksInPath().path
        let path = URL(filePath: folder + "/" + Self.name).resolvingSymlinksInPath().path
        guard FileManager.default.fileExists(atPath: path) else {
            throw failure("has no \(Self.name); a venue packet is a folder with that file")
        }
        guard path.hasPrefix(folder + "/") else {
            throw failure("\(Self.name) is a symbolic link that leaves the folder; replace it by the file")
        }
        document = String(path.dropFirst(folder.count + 1))
        let parent = URL(filePath: path).deletingLastPathComponent().path
        guard FileManager.default.isWritableFile(atPath: parent) else {
            throw failure("\(parent) can't be written; check its permissions, or edit a copy of the packet")
        }
        do throws(BoundedFileError) { _ = try read(document, folder) } catch {
            throw failure("\(Self.name) \(error)")
        }
    }

    /// Returns the document as it is on disk now.
    func edition() throws(BoundedFileError) -> Edition {
        let bytes = try read(document, folder)
        return Edition(bytes: bytes, revision: DocumentRevision(bytes))
    }

    /// Returns the venue whose plans are shown; nil if a field that every venue needs is invalid.
    ///
    /// The document is read only after a change of the file, because a plan has thousands of tiles.
    func shownVenue() throws(BoundedFileError) -> Venue? {
        // The stamp is read before the file, so that the next request detects a change in between.
        let stamp = FileStamp(path)
        if let shown, shown.stamp == stamp { return shown.venue }
        let venue = check(try edition()).venue
        shown = stamp.map { ($0, venue) }
        return venue
    }

    /// Returns the venue of an edition with its problems.
    func check(_ edition: Edition) -> Checked {
        if let checked, checked.revision == edition.revision { return checked.result }
        let (venue, problems) = VenuePacketReader().checked(edition.bytes, inFolder: folder)
        // Even if the document isn't a valid packet, its maps can still be shown.
        let result = Checked(venue: venue ?? VenuePacketReader.parse(edition.bytes).venue, problems: problems)
        checked = (edition.revision, result)
        return result
    }

    /// Replaces the document if nobody has changed it since the page read it, and if it has no errors.
    ///
    /// - Throws: `FileSystemError` if the file can't be written; then it is unchanged.
    func save(_ bytes: [UInt8], _ condition: SaveCondition) throws(FileSystemError) -> Outcome {
        // The lock prevents another process of this command from saving between the comparison and the replacement.
        let lock = try OpenFile(folder, O_RDONLY | O_DIRECTORY)
        guard lock.lock() else {
            throw FileSystemError(path: folder, reason: "another 'venue edit' is saving; try again")
        }
        let current = try? edition()
        if let refusal = condition.refusal(current: current?.revision) {
            return .refused(refusal, current: current?.revision)
        }
        let earlier = current.flatMap { check($0).venue }
        let edition = Edition(bytes: bytes, revision: DocumentRevision(bytes))
        let result = check(edition)
        guard let venue = result.venue, result.isUsable else { return .invalid(result.problems) }
        try DiskFile.replace(path, with: bytes)
        return .saved(
            edition.revision, warnings: result.problems,
            survey: earlier.flatMap { SurveyChanges(from: $0, to: venue) })
    }
}

/// The metadata that changes with the content of a file: the file's identity, its size, and the times of its latest
/// changes.
private struct FileStamp: Equatable {
    private let numbers: [Int]

    /// Nil if the file doesn't exist or can't be inspected.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        numbers = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}
