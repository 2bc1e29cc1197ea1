import Foundation
import IndoorLocalization
import VenueEditing
import VenueExchange
import VenuePackets

/// The `venue.json` of a packet's folder, which a page edits. Requests to save are served one after the other.
actor EditedVenueFile {
    /// A document with its revision.
    struct Edition: Sendable {
        let bytes: [UInt8]
        let revision: DocumentRevision

        init(_ bytes: [UInt8]) { (self.bytes, revision) = (bytes, DocumentRevision(bytes)) }
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

    /// The document with which a new packet begins; nil for a packet that existed.
    private let beginning: [UInt8]?
    private var isWritten = false
    /// The files that the page has written in this run, without those that existed.
    private var uploads: Set<String> = []

    /// Whether the packet is new; false if it existed at the start.
    nonisolated let isNew: Bool
    /// The folders that were missing at the start, the deepest first.
    private let missing: [String]
    /// The number of the latest request to check a document.
    private nonisolated let latestCheck = Guarded(0)

    /// Opens a packet for editing, or begins one in a folder that is empty or doesn't exist. Nothing is written.
    ///
    /// A run that was killed before the first saving leaves files that were chosen on the page: a folder with only these
    /// counts as empty.
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
        let exists = FileManager.default.fileExists(atPath: packet, isDirectory: &isFolder)
        guard isFolder.boolValue || !exists else {
            throw failure(
                "is a file; 'venue edit' needs a packet's folder: unzip a zip into a folder, and edit that folder")
        }
        folder = URL(filePath: packet).standardizedFileURL.resolvingSymlinksInPath().path
        missing = DiskFolder.missing(folder + "/" + PacketUpload.Kind.planImage.folder)
        isNew = !exists || Self.hasOnlyUploads(folder)
        if isNew {
            let name = URL(filePath: folder).lastPathComponent
            do throws(VenuePacketError) { beginning = try NewVenue.emptyDocument(named: name) } catch {
                throw failure("no venue can have this name; give another folder")
            }
            document = Self.name
            let parent =
                DiskFolder.missing(folder).last.map { URL(filePath: $0).deletingLastPathComponent().path } ?? folder
            guard FileManager.default.isWritableFile(atPath: parent) else {
                throw failure("\(parent) can't be written; check its permissions, or give another folder")
            }
            return
        }
        beginning = nil
        let path = URL(filePath: folder + "/" + Self.name).resolvingSymlinksInPath().path
        guard FileManager.default.fileExists(atPath: path) else {
            throw failure(
                "has no \(Self.name); a venue packet is a folder with that file, and a new one begins in an empty folder"
            )
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

    /// Returns whether a folder has nothing but files that this page writes before the document.
    private static func hasOnlyUploads(_ folder: String) -> Bool {
        DiskFolder.names(in: folder).allSatisfy { name in
            guard name == PacketUpload.Kind.planImage.folder else {
                return PacketUpload.isName(name, of: .radioMap)
            }
            let plans = folder + "/" + name
            return DiskFolder.isFolder(plans)
                && DiskFolder.names(in: plans).allSatisfy { PacketUpload.isName($0, of: .planImage) }
        }
    }

    /// Whether the document is on disk.
    var isStored: Bool { isWritten || !isNew || FileManager.default.fileExists(atPath: path) }

    /// Returns the document as it is on disk now, or the one with which a new packet begins.
    func edition() throws(BoundedFileError) -> Edition {
        if let beginning, !isStored { return Edition(beginning) }
        return Edition(try read(document, folder))
    }

    /// Returns an image of the packet; nil if there is none at the path, or another kind of file.
    func image(_ path: String) -> PlanImage? {
        guard PacketPath.isInside(path),
            let bytes = try? BoundedFile.read(path, below: folder, limit: InputLimits.standard.image)
        else { return nil }
        let image = PlanImage(bytes, named: path)
        return image.mediaType.hasPrefix("image/") ? image : nil
    }

    /// Writes a file into the packet. Its name comes from its content, so that it never replaces another one.
    func write(_ upload: PacketUpload) throws(FileSystemError) {
        let path = folder + "/" + upload.path
        let parent = URL(filePath: path).deletingLastPathComponent().path
        try DiskFolder.create(parent, mode: DiskFolder.openMode)
        guard (parent + "/").hasPrefix(folder + "/"),
            URL(filePath: parent).resolvingSymlinksInPath().path == URL(filePath: parent).path
        else {
            throw FileSystemError(path: parent, reason: "\(parent) is a symbolic link; replace it by a folder")
        }
        guard !FileManager.default.fileExists(atPath: path) else { return }
        try DiskFile.replace(path, with: upload.bytes)
        uploads.insert(upload.path)
    }

    /// Removes the files that the page has written, but the stored document doesn't refer to.
    func removeUnusedUploads() {
        guard let text = (try? edition()).map({ String(decoding: $0.bytes, as: UTF8.self) }) else { return }
        for upload in uploads {
            // Another program may write the slash of the path as `\/`. The name alone is unique by its hash.
            let name = upload.split(separator: "/").last ?? ""
            if !text.contains(name) { DiskFolder.remove(folder + "/" + upload) }
        }
        DiskFolder.removeEmpty(missing)
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

    /// The number of documents that were given to `checkUnlessReplaced`.
    nonisolated var requestedChecks: Int { latestCheck.withLock(\.self) }

    /// Returns the venue of a document with its problems; nil if a newer document was given in the meantime.
    ///
    /// A page gives its document after each change. Checks of earlier ones would only delay a request to save.
    nonisolated func checkUnlessReplaced(_ bytes: [UInt8]) async -> Checked? {
        let number = latestCheck.withLock { latest in
            latest += 1
            return latest
        }
        return await check(Edition(bytes), ifLatest: number)
    }

    private func check(_ edition: Edition, ifLatest number: Int) -> Checked? {
        number == requestedChecks ? check(edition) : nil
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
        if isNew { try DiskFolder.create(folder, mode: DiskFolder.openMode) }
        // The lock prevents another process of this command from saving between the comparison and the replacement.
        let lock = try OpenFile(folder, O_RDONLY | O_DIRECTORY)
        guard lock.lock() else {
            throw FileSystemError(path: folder, reason: "another program is saving the packet; try again")
        }
        let current = try? edition()
        // A person may want to write again what another program has removed. Its absence has a revision for that: the one
        // of no bytes.
        let isGone = current == nil && !FileManager.default.fileExists(atPath: path)
        let revision = isGone && condition != .exists ? DocumentRevision([]) : current?.revision
        if let refusal = condition.refusal(current: revision) { return .refused(refusal, current: revision) }
        let earlier = current.flatMap { check($0).venue }
        let edition = Edition(bytes)
        let result = check(edition)
        guard let venue = result.venue, result.isUsable else { return .invalid(result.problems) }
        try DiskFile.replace(path, with: bytes)
        isWritten = true
        return .saved(
            edition.revision, warnings: result.problems,
            survey: earlier.flatMap { SurveyChanges(from: $0, to: venue) })
    }
}
