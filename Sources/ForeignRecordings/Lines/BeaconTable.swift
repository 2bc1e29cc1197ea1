import IndoorVocabulary
import TextFormats

extension ForeignBeacon {
    /// Reads a table of beacons: a CSV file with a column of names, and the identity, the address or both.
    ///
    /// - Parameters:
    ///   - path: the path of the file, for errors.
    ///   - bytes: the content of the file.
    /// - Throws: `ForeignRecordingError` if the table is invalid.
    package static func table(_ path: String, bytes: [UInt8]) throws(ForeignRecordingError) -> [String: ForeignBeacon] {
        var converter = UTF16Text()
        let text = converter.text(of: bytes)
        var table: [String: ForeignBeacon] = [:]
        var header: (header: CSVHeader, name: Int)?
        var number = 0
        let lines = text.dropFirst(ByteOrderMark.length(in: text))
        for line in lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            var line = Array(line)
            if line.last == 0x0D { line.removeLast() }
            guard line.contains(where: { $0 > 0x20 }) else { continue }
            do throws(ForeignProblem) {
                if let problem = CSVLine.problem(ofText: line) { throw problem }
                guard let (header, name) = header else {
                    header = try begin(line)
                    continue
                }
                let fields = try header.fields(of: line)
                guard name < fields.count, !fields[name].isEmpty else {
                    throw ForeignProblem(header.fields[name], .missing(expected: "the name of the beacon"))
                }
                table[fields[name]] = try beacon(CSVRow(header: header, fields: fields, record: line))
            } catch {
                throw ForeignRecordingError(
                    file: path, format: .csv, place: .line(number), field: error.field, problem: error.problem)
            }
        }
        guard header != nil else { throw ForeignRecordingError(file: path, format: .csv, problem: .empty) }
        return table
    }

    /// Reads the header; returns it with the number of the column of names.
    private static func begin(_ line: [UInt8]) throws(ForeignProblem) -> (CSVHeader, Int) {
        let header = try CSVHeader(line, ForeignRecordingSettings())
        let plain = header.fields.map { $0.lowercased() }
        let names = ["name", "beacon", "id", "number", "no", "label"]
        guard let name = names.lazy.compactMap({ name in plain.firstIndex(of: name) }).first else {
            throw ForeignProblem("name", .missing(expected: "a column with the name of each beacon"))
        }
        return (header, name)
    }

    private static func beacon(_ row: CSVRow) throws(ForeignProblem) -> ForeignBeacon {
        var beacon = ForeignBeacon()
        beacon.address = try row.optional(.address, "six hexadecimal pairs", FieldText.address)
        if let uuid = try row.optional(.uuid, "a UUID of 32 hexadecimal digits", { BeaconUUID($0) }) {
            guard let major = try row.optional(.major, "a number from 0 to 65535", { UInt16($0) }),
                let minor = try row.optional(.minor, "a number from 0 to 65535", { UInt16($0) })
            else { throw ForeignProblem("major", .missing(expected: "major and minor beside the UUID")) }
            beacon.identity = BeaconIdentity(uuid: uuid, major: major, minor: minor)
        } else if let index = row.header.columns[.identity], index < row.fields.count {
            beacon.identity = FieldText.identity(row.fields[index])
        }
        guard beacon.identity != nil || beacon.address != nil else {
            throw ForeignProblem("identity", .missing(expected: "uuid, major and minor, identity or mac"))
        }
        return beacon
    }
}
