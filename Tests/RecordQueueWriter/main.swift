// Adds records to an upload queue until it is killed, and prints the number of each record once it is written:
// RecordQueueWriter PATH LIMIT

import Glibc
import IndoorLocalization
import RecordUpload

let words = CommandLine.arguments
guard words.count == 3, let limit = Int(words[2]) else {
    print("usage: RecordQueueWriter PATH LIMIT")
    exit(2)
}
let queue = try UploadQueue(path: words[1], limit: limit)
let place = OutdoorPosition(instant: .zero, coordinate: Coordinate(latitude: 48, longitude: 11), radius: 5)
while true {
    // Two at once: both are written, or none.
    let records = [1, 2].map { UploadRecord(.outdoorPosition(place), unixTime: UnixTime(milliseconds: $0)) }
    for number in try await queue.append(records) {
        // One write for each line, so that the reader never receives half a line.
        let line = Array("\(number)\n".utf8)
        guard write(STDOUT_FILENO, line, line.count) == line.count else { exit(1) }
    }
}
