// Stores ever newer versions of one venue in a cache, and prints each version once it is stored, until it is killed or has
// stored as many as it should: CacheReplacer CACHE SCRATCH FIRST COUNT

import FoundationEssentials
import Glibc
import IndoorLocalization
import VenuePackets

let words = CommandLine.arguments
guard words.count == 5, let first = Int(words[3]), let count = Int(words[4]) else {
    print("usage: CacheReplacer CACHE SCRATCH FIRST COUNT")
    exit(2)
}
let (cache, scratch) = (words[1], words[2])
for version in first..<first + count {
    let map = VenueMap(id: 1, name: "Ground", level: 0, width: 10, height: 10, imagePath: "plan.txt")
    try VenuePacketWriter().write(Venue(id: 1, name: "Kiosk", version: version, maps: [map]), toFolder: scratch)
    // Long enough to be cut in the middle.
    let plan = String(repeating: "\(version) ", count: 10_000)
    try Data(plan.utf8).write(to: URL(filePath: scratch + "/plan.txt"))
    let packet = BundledPacket(path: scratch, venueID: 1, version: version)
    let venue = try await VenueRepository(cache: cache, bundled: [packet]).venue(1)
    guard venue.version >= version else {
        print("version \(venue.version) instead of \(version)")
        exit(1)
    }
    // One write, so that the reader never gets half a line.
    let line = Array("\(version)\n".utf8)
    guard write(STDOUT_FILENO, line, line.count) == line.count else { exit(1) }
}
