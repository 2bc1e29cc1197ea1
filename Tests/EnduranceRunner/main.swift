// A program that repeats work, and measures what remains of it:
//     EnduranceRunner cycles SUBJECT COUNT    starts and stops a part of the package
//     EnduranceRunner day HOURS [PARTICLES]   locates a simulated walker in accelerated time
// It prints one JSON object. It is a separate process, so that no other test changes the memory, threads and
// descriptors that it measures.

import Foundation

// If the work hangs, the kernel ends the process.
alarm(3600)
let words = CommandLine.arguments
let encoder = JSONEncoder()
encoder.outputFormatting = .sortedKeys

func printReport(_ report: some Encodable) throws { print(String(decoding: try encoder.encode(report), as: UTF8.self)) }

do {
    if words.count == 4, words[1] == "cycles", let subject = CycleSubject(rawValue: words[2]),
        let count = Int(words[3]),
        count > 0
    {
        try printReport(try await CycleReport(of: subject, count))
    } else if (3...4).contains(words.count), words[1] == "day", let hours = Double(words[2]), hours > 0 {
        let particles = words.count == 4 ? Int(words[3]) : nil
        try printReport(try await SimulatedDay(hours: hours, particles: particles).run())
    } else {
        let subjects = CycleSubject.allCases.map(\.rawValue).joined(separator: "|")
        print("usage: EnduranceRunner cycles \(subjects) COUNT\n       EnduranceRunner day HOURS [PARTICLES]")
        exit(2)
    }
} catch {
    FileHandle.standardError.write(Data("EnduranceRunner: \(error)\n".utf8))
    exit(1)
}
