// Appends records to a geofence log until it is killed, and prints the number of each record once it is written:
// FenceLogWriter PATH LIMIT
//
// It prints an error of a write to standard error, and then tries again.

import GeofenceLogging
import Glibc
import IndoorLocalization

let words = CommandLine.arguments
guard words.count == 3, let limit = Int(words[2]) else {
    print("usage: FenceLogWriter PATH LIMIT")
    exit(2)
}
var settings = GeofenceLogSettings()
settings.recordLimit = limit
let log = try GeofenceLog(path: words[1], settings: settings)
while true {
    let time = GeofenceLogger.deviceTime()
    // Two at once: both are written, or none.
    let records = [true, false].map { isEntry in
        GeofenceRecord(
            time: time, instant: Instant(seconds: time), venueID: 1, kind: .fence, areaID: "7", name: "door",
            isEntry: isEntry)
    }
    var numbers: [Int64] = []
    do { numbers = try await log.append(records) } catch {
        let line = Array("\(error)\n".utf8)
        guard write(STDERR_FILENO, line, line.count) == line.count else { exit(1) }
    }
    for number in numbers {
        // One write for each line, so that the reader never receives half a line.
        let line = Array("\(number)\n".utf8)
        guard write(STDOUT_FILENO, line, line.count) == line.count else { exit(1) }
    }
}
