// A process that a test kills in the middle of its work: KilledProcess WORK ARGUMENT…

import Glibc

let works: [String: (usage: String, count: Int, run: @Sendable ([String]) async throws -> Void)] = [
    "cache": ("CACHE SCRATCH FIRST COUNT", 4, storeVersions),
    "editions": ("FOLDER COUNT", 2, changeEditions),
    "fences": ("PATH LIMIT", 2, writeFences),
    "uploads": ("PATH LIMIT", 2, queueUploads),
    "sharing": ("PORT DEVICE ROOM", 3, sharePositions),
]
let words = CommandLine.arguments
guard words.count > 1, let work = works[words[1]], words.count == 2 + work.count else {
    for (name, work) in works.sorted(by: { $0.key < $1.key }) { print("usage: KilledProcess \(name) \(work.usage)") }
    exit(2)
}
do { try await work.run(Array(words.dropFirst(2))) } catch {
    _ = "\(error)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(1)
}
